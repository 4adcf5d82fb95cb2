"""Pictures and pages from Python are those of the command line."""

import xml.etree.ElementTree as ElementTree

import matplotlib
import pytest

import dolmen

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def stack(iris):
    return dolmen.StackedClassifier(["logistic", "naive-bayes", "tree"], keep_stack=True, combiner="simplex").fit(*iris)


def test_every_picture_that_suits_is_drawn(stack):
    assert {"weights", "scores", "roc"} <= set(stack.pictures_)
    for kind in stack.pictures_:
        drawn = stack.plot(kind)
        assert ElementTree.fromstring(str(drawn)).tag.endswith("svg"), kind
    with pytest.raises(ValueError, match="picture"):
        stack.plot("contours")
    with pytest.raises(ValueError, match="theme"):
        stack.plot("weights", theme="pink")


def test_the_page_and_the_summary(stack, tmp_path):
    page = stack.report_html(tmp_path / "r.html")
    assert page.startswith("<!DOCTYPE html>") and "logistic" in page and len(page) < 1e6
    assert (tmp_path / "r.html").read_text() == page
    assert "logistic" in stack._repr_html_()
    assert dolmen.StackedClassifier()._repr_html_()


def test_single_learners_show_what_they_look_like(iris):
    x, y = iris
    for learner in [dolmen.GaussianMixture(components=2).fit(x), dolmen.DecisionTreeClassifier(depth=2).fit(x, y)]:
        assert "<svg" in learner._repr_html_()
    assert "naive-bayes" in dolmen.NaiveBayes().fit(x, y)._repr_html_()
    assert dolmen.GaussianMixture()._repr_html_()


def test_weights_on_axes(stack):
    axes = stack.plot_weights()
    assert [text.get_text() for text in axes.get_yticklabels()] == stack.member_names_
    assert stack.plot_scores().get_xlabel()
    found = stack.oos_.weigh()
    assert found.plot_weights().get_xlabel() and "svg" in str(found.plot()) and "logistic" in found._repr_html_()
