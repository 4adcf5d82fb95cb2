"""A first stack: unlike models combined, with the evidence."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from dolmen import StackedClassifier

x, y = load_breast_cancer(return_X_y=True, as_frame=True)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)

stack = StackedClassifier(["logistic", "forest(trees=100)", "boost(rounds=60)", "naive-bayes"]).fit(x_train, y_train)

for name, weight, error in zip(stack.member_names_, stack.weights_, stack.weight_errors_, strict=True):
    print(f"{name:<20} weight {weight:.3f} (se {error:.3f})")
check = stack.report_["check"]
gain = check["gain_over_best"]
print(f"log score in the check {check['stack']['mean']:.4f}, better than the best member by {gain['mean']:.4f} (se {gain['se']:.4f})")
figures = stack.score_report(x_test, y_test)["figures"]
print("on new rows", ", ".join(f"{name} {value:.4f}" for name, value in figures.items()))
assert stack.score(x_test, y_test) > 0.9
