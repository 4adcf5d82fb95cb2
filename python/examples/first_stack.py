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
print("log score in the check", round(check["stack"]["mean"], 4), "gain over the best member", check["gain_over_best"])
print("accuracy on new rows", stack.score(x_test, y_test))
print("figures on new rows", stack.score_report(x_test, y_test)["figures"])
assert stack.score(x_test, y_test) > 0.9
