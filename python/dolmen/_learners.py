"""Single learners. Written by `generate.py` from the library's documentation of its parameters: change it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._attributes import KernelAttributes, LinearAttributes, MixtureAttributes
from ._learner import ClassificationLearner, DensityLearner, Importances, RegressionLearner

__all__ = [
    "A2DE",
    "AODE",
    "AdaBoostClassifier",
    "AtomDensity",
    "AveragedDensity",
    "BMAAODE",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DeepEnsembleClassifier",
    "DeepEnsembleRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GaussianDensity",
    "GaussianMixture",
    "GaussianProcessRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelDensity",
    "LMDODE",
    "LMGODE",
    "LogisticRegression",
    "MLPClassifier",
    "MLPRegressor",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "NaiveBayes",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Ridge",
    "SVC",
    "SVR",
]


class GaussianDensity(DensityLearner):
    """One Gaussian.

    Parameters
    ----------
    covariance : str, default='full'
        Which covariance matrices are allowed: full, diagonal or spherical. (one of full, diagonal, spherical)
    beta : float, default=0.0
        The prior's knob, Sigma = (scatter + 2 beta I) / (N + 1); 0 is maximum likelihood. (number, at least 0)
    standardise : bool, default=True
        Whether beta and spherical speak of the data in units of their mean and standard deviation (N-1). (true or false)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "gaussian"

    def __init__(
        self,
        *,
        covariance: str = "full",
        beta: float = 0.0,
        standardise: bool = True,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.covariance = covariance
        self.beta = beta
        self.standardise = standardise
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class GaussianMixture(MixtureAttributes, DensityLearner):
    """Gaussian mixture by MAP-EM; a list of components is a ladder.

    Parameters
    ----------
    components : int | Sequence[int], default=4
        Number of components; a list makes one member per number. (whole number or list of whole numbers, 1 to 100000)
    covariance : str, default='full'
        Which covariance matrices the components may have. (one of full, tied, diagonal, spherical)
    freedom : float | None, default=None
        Degrees of freedom of components that are Student's t, 0.1 to 10 000: few make heavy tails, in which rows far out cost little and pull
        little. Covariances are then scales. Normal components if absent. (number, 0.1 to 10000)
    beta : float | Sequence[float], default=0.01
        The one knob of the prior, B = beta I: larger is smoother. A list is a choice, made by validation. With 0 nothing keeps a component
        from collapsing on a few rows; a start on which that happens counts as failed. (number or list of numbers, at least 0)
    validation : float, default=0.2
        Share of the rows held out to choose beta; the chosen one is then fitted to all rows. (number, between 0 and 1)
    gamma : float, default=1.0
        Dirichlet parameter of the component weights; at least 1, which is neutral. (number, at least 1)
    eta : float, default=0.0
        Rows that the prior mean is worth; 0 is neutral. (number, at least 0)
    mu0 : Sequence[float] | None, default=None
        The prior mean; the mean of the data if absent. (list of numbers)
    a : float | None, default=None
        The Wishart parameter a; (d+1)/2 if absent, which is neutral. d/2 with beta = 0 is maximum likelihood. (number)
    b : Sequence[Sequence[float]] | None, default=None
        The shape of the Wishart matrix, B = beta b; the identity if absent. (list of lists of numbers)
    standardise : bool, default=True
        Whether to fit in units of the training rows' mean and standard deviation (N-1). (true or false)
    start : str | dict[str, Any], default='kmeans++'
        How EM is started. (one of kmeans++, kmeans, random or {given=..})
    restarts : int, default=3
        Number of starts, 1 to 10 000; the highest log posterior is kept. (whole number, 1 to 10000)
    tolerance : float, default=1e-05
        EM stops when an iteration gains less than this per row; 0 runs all iterations. (number, at least 0)
    iterations : int, default=500
        Iterations of EM at most. (whole number, 1 to 1000000)
    schedule : str, default='converge'
        How many starts, and how long each is followed. (one of converge, sw99)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "mixture"

    def __init__(
        self,
        *,
        components: int | Sequence[int] = 4,
        covariance: str = "full",
        freedom: float | None = None,
        beta: float | Sequence[float] = 0.01,
        validation: float = 0.2,
        gamma: float = 1.0,
        eta: float = 0.0,
        mu0: Sequence[float] | None = None,
        a: float | None = None,
        b: Sequence[Sequence[float]] | None = None,
        standardise: bool = True,
        start: str | dict[str, Any] = "kmeans++",
        restarts: int = 3,
        tolerance: float = 1e-05,
        iterations: int = 500,
        schedule: str = "converge",
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.components = components
        self.covariance = covariance
        self.freedom = freedom
        self.beta = beta
        self.validation = validation
        self.gamma = gamma
        self.eta = eta
        self.mu0 = mu0
        self.a = a
        self.b = b
        self.standardise = standardise
        self.start = start
        self.restarts = restarts
        self.tolerance = tolerance
        self.iterations = iterations
        self.schedule = schedule
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class KernelDensity(KernelAttributes, DensityLearner):
    """Product-kernel density; a list of bandwidths is a ladder.

    Parameters
    ----------
    shape : str, default='gaussian'
        The kernel. (one of gaussian, triangular, epanechnikov, uniform, biweight, triweight)
    bandwidth : float | Sequence[float] | str | dict[str, Any], default='silverman'
        The bandwidths; a list makes one member per value. (number or list of numbers or one of scott, silverman, cv, loo or {absolute=..},
        above 0)
    scale : str, default='training'
        Which rows the bandwidths are measured on when out-of-sample densities are made. (one of training, sample)
    tolerance : float, default=1e-10
        The greatest error of a density that fast evaluation may make, besides rounding, relative to the density at the same point, be it far
        out in the tails; 0 looks at every row. (number, at least 0 and below 1)
    search : str, default='climb'
        How the bandwidths of greatest likelihood are looked for (bandwidths cv and loo). (one of climb, sw99)
    folds : int, default=10
        Folds of the likelihood cv, 2 to 10 000 and at most as many as rows. (whole number, 2 to 10000)
    search_rows : int, default=5000
        The most rows on which cv and loo look for bandwidths, as the work grows with their square. Of more rows, so many are drawn, and the
        bandwidths found are multiplied by (drawn/all)^(1/(d+4)), as optimal ones shrink. (whole number, at least 2)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "kernel"

    def __init__(
        self,
        *,
        shape: str = "gaussian",
        bandwidth: float | Sequence[float] | str | dict[str, Any] = "silverman",
        scale: str = "training",
        tolerance: float = 1e-10,
        search: str = "climb",
        folds: int = 10,
        search_rows: int = 5000,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.shape = shape
        self.bandwidth = bandwidth
        self.scale = scale
        self.tolerance = tolerance
        self.search = search
        self.folds = folds
        self.search_rows = search_rows
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class AtomDensity(DensityLearner):
    """Mixture of products, for columns whose values repeat; a list of components is a ladder.

    Parameters
    ----------
    components : int | Sequence[int], default=4
        Number of components; a list makes one member per number. (whole number or list of whole numbers, 1 to 100000)
    share : float, default=0.01
        Share of the rows from which on a value that repeats is an atom, 0.001 to 1; five rows at least. (number, 0.001 to 1)
    beta : float, default=0.01
        The knob of the prior of the normal distributions: each knows 2 beta rows of its column before it sees any. Larger is smoother.
        (number, above 0)
    restarts : int, default=2
        Number of starts, 1 to 10 000; the highest log posterior is kept. (whole number, 1 to 10000)
    tolerance : float, default=1e-05
        EM stops when an iteration gains less than this per row; 0 runs all iterations. (number, at least 0)
    iterations : int, default=500
        Iterations of EM at most. (whole number, 1 to 1000000)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "atoms"

    def __init__(
        self,
        *,
        components: int | Sequence[int] = 4,
        share: float = 0.01,
        beta: float = 0.01,
        restarts: int = 2,
        tolerance: float = 1e-05,
        iterations: int = 500,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.components = components
        self.share = share
        self.beta = beta
        self.restarts = restarts
        self.tolerance = tolerance
        self.iterations = iterations
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class AveragedDensity(DensityLearner):
    """The average of several fits of another learner, as in bagging: of=SPEC.

    Parameters
    ----------
    of : Any, default='mixture(components=4)'
        The learner whose fits are averaged; each rung of a ladder by itself. (a spec, or an estimator)
    fits : int, default=10
        Number of fits, 1 to 10 000. (whole number, 1 to 10000)
    resample : str, default='bootstrap'
        What they differ in. (one of starts, subsample, bootstrap)
    fraction : float, default=0.7
        Share of the rows in a subsample. (number, above 0 and at most 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "averaged"
    _given = ("of",)

    def __init__(
        self,
        *,
        of: Any = "mixture(components=4)",
        fits: int = 10,
        resample: str = "bootstrap",
        fraction: float = 0.7,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.of = of
        self.fits = fits
        self.resample = resample
        self.fraction = fraction
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class LogisticRegression(LinearAttributes, ClassificationLearner):
    """Logistic regression; a list of lambdas is a ladder, auto chooses by cross-validation.

    Parameters
    ----------
    lambda_ : float | Sequence[float] | str, default='auto'
        The penalty: a number, a list (one member per value), or auto, the one of least cross-validated log loss. Of a table that is read
        block by block, auto looks at a sample of 16384 rows. (number or list of numbers or auto, at least 0)
    standardise : bool, default=True
        Whether the penalty is on coefficients of standardised columns (indicators keep their scale). (true or false)
    folds : int, default=5
        Folds of the cross-validation that chooses a penalty, 2 to 10 000. (whole number, 2 to 10000)
    tolerance : float, default=1e-06
        The largest element that the gradient of the mean loss may have in the end. (number, above 0)
    iterations : int, default=500
        Iterations at most. (whole number, 1 to 1000000)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "logistic"
    _spelled = {"lambda_": "lambda"}

    def __init__(
        self,
        *,
        lambda_: float | Sequence[float] | str = "auto",
        standardise: bool = True,
        folds: int = 5,
        tolerance: float = 1e-06,
        iterations: int = 500,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.lambda_ = lambda_
        self.standardise = standardise
        self.folds = folds
        self.tolerance = tolerance
        self.iterations = iterations
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class KNeighborsClassifier(ClassificationLearner):
    """The k nearest neighbours; a list of k is a ladder.

    Parameters
    ----------
    k : int | Sequence[int], default=10
        Rows that are asked, all of them if there are fewer; a list makes one member per number. (whole number or list of whole numbers, 1 to
        1e9)
    weights : str, default='uniform'
        How the neighbours share the prediction. (one of uniform, distance)
    standardise : bool, default=True
        Whether columns are put on one scale, learned from the training rows: mean 0, deviation 1, indicators as they are. (true or false)
    smoothing : float, default=0.2
        Rows imagined in addition to the k, spread by the classes' frequencies; of no effect on numbers. (number, at least 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "neighbours"

    def __init__(
        self,
        *,
        k: int | Sequence[int] = 10,
        weights: str = "uniform",
        standardise: bool = True,
        smoothing: float = 0.2,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.k = k
        self.weights = weights
        self.standardise = standardise
        self.smoothing = smoothing
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class SVC(ClassificationLearner):
    """Support vector machine, kernel linear or rbf.

    Parameters
    ----------
    kernel : str, default='rbf'
        The kernel. (one of linear, rbf)
    c : float, default=1.0
        What a row beyond its margin costs: large values fit the rows closely. (number, above 0)
    gamma : str | float, default='scale'
        The rate of the kernel rbf, exp(-gamma |x - y|^2). (scale or number, above 0)
    standardise : bool, default=True
        Whether inputs (not indicators) and a numeric target are put on one scale, learned from the training rows: mean 0, deviation 1. c, and
        epsilon of numbers, are then in these units; with false all is as in the data. (true or false)
    tolerance : float, default=0.001
        By how much the conditions of the optimum may be violated. (number, above 0)
    cache : float, default=200.0
        Memory for rows of the kernel matrix, in 10^6 bytes, all threads together. (number, above 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "svm"

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        c: float = 1.0,
        gamma: str | float = "scale",
        standardise: bool = True,
        tolerance: float = 0.001,
        cache: float = 200.0,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.kernel = kernel
        self.c = c
        self.gamma = gamma
        self.standardise = standardise
        self.tolerance = tolerance
        self.cache = cache
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class MLPClassifier(ClassificationLearner):
    """A small multilayer perceptron.

    Parameters
    ----------
    hidden : int | Sequence[int], default=(64, 64)
        Units of each hidden layer, 1 to 100 000; 64 layers at most. (whole number or list of whole numbers, 1 to 100000)
    activation : str, default='relu'
        What hidden units make of their inputs: relu or tanh. (one of relu, tanh)
    waves : int, default=8
        Waves by which each column of numbers is seen beside itself, 0 to 1000: what bends along one column is learned sooner. Of more than 64
        such columns none is. (whole number, 0 to 1000)
    rate : float, default=0.006
        The learning rate of Adam. (number, above 0)
    schedule : str, default='cosine'
        How the learning rate goes on: falling to 0 like a cosine over all passes, or constant. (one of cosine, constant)
    batch : int | None, default=None
        Rows in a batch; from 16 to 100 by the number of rows if absent. (whole number, at least 1)
    epochs : int, default=25
        Passes over the rows at most, 1 to 1 000 000 (but always 500 steps, however small the table). (whole number, 1 to 1000000)
    patience : int | None, default=None
        Passes without progress on the rows held out, after which training stops; without a number all passes are made. (whole number, at
        least 0)
    validation : float, default=0.1
        Share of the rows held out; the parameters that were best on them are kept. (number, above 0 and at most 0.5)
    decay : float, default=0.03
        Decoupled weight decay: each step shrinks weights by rate * decay. (number, at least 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "network"

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = (64, 64),
        activation: str = "relu",
        waves: int = 8,
        rate: float = 0.006,
        schedule: str = "cosine",
        batch: int | None = None,
        epochs: int = 25,
        patience: int | None = None,
        validation: float = 0.1,
        decay: float = 0.03,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.waves = waves
        self.rate = rate
        self.schedule = schedule
        self.batch = batch
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.decay = decay
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class DeepEnsembleClassifier(ClassificationLearner):
    """Several networks, averaged.

    Parameters
    ----------
    copies : int, default=5
        Number of networks, 1 to 1000. (whole number, 1 to 1000)
    hidden : int | Sequence[int], default=(64, 64)
        Units of each hidden layer, 1 to 100 000; 64 layers at most. (whole number or list of whole numbers, 1 to 100000)
    activation : str, default='relu'
        What hidden units make of their inputs: relu or tanh. (one of relu, tanh)
    waves : int, default=8
        Waves by which each column of numbers is seen beside itself, 0 to 1000: what bends along one column is learned sooner. Of more than 64
        such columns none is. (whole number, 0 to 1000)
    rate : float, default=0.006
        The learning rate of Adam. (number, above 0)
    schedule : str, default='cosine'
        How the learning rate goes on: falling to 0 like a cosine over all passes, or constant. (one of cosine, constant)
    batch : int | None, default=None
        Rows in a batch; from 16 to 100 by the number of rows if absent. (whole number, at least 1)
    epochs : int, default=25
        Passes over the rows at most, 1 to 1 000 000 (but always 500 steps, however small the table). (whole number, 1 to 1000000)
    patience : int | None, default=None
        Passes without progress on the rows held out, after which training stops; without a number all passes are made. (whole number, at
        least 0)
    validation : float, default=0.1
        Share of the rows held out; the parameters that were best on them are kept. (number, above 0 and at most 0.5)
    decay : float, default=0.03
        Decoupled weight decay: each step shrinks weights by rate * decay. (number, at least 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "deep-ensemble"

    def __init__(
        self,
        *,
        copies: int = 5,
        hidden: int | Sequence[int] = (64, 64),
        activation: str = "relu",
        waves: int = 8,
        rate: float = 0.006,
        schedule: str = "cosine",
        batch: int | None = None,
        epochs: int = 25,
        patience: int | None = None,
        validation: float = 0.1,
        decay: float = 0.03,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.copies = copies
        self.hidden = hidden
        self.activation = activation
        self.waves = waves
        self.rate = rate
        self.schedule = schedule
        self.batch = batch
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.decay = decay
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class DecisionTreeClassifier(Importances, ClassificationLearner):
    """A decision tree, pruned.

    Parameters
    ----------
    criterion : str | None, default=None
        What splits are judged by: variance for numbers, gini (the default) or entropy for classes. (one of gini, entropy)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 1)
    leaves : int | None, default=None
        Leaves at most. (whole number, at least 2)
    min_leaf : float, default=1.0
        The least weight of rows in a leaf. (number, at least 0)
    min_split : float, default=2.0
        The least weight of rows in a node that is split. (number, at least 0)
    min_gain : float, default=0.0
        By how much a split must lower the mean impurity of the sample. (number, at least 0)
    alpha : float | str, default='cv'
        The price of a leaf, in mean impurity: a number, or cv for the one that predicts held-out folds best. (number or cv, at least 0)
    folds : int, default=5
        Folds by which alpha is chosen, 2 to 10 000. (whole number, 2 to 10000)
    one_se : bool, default=False
        Whether the largest alpha within one standard error of the best is taken. (true or false)
    pseudo_count : float, default=2.0
        Rows imagined in a leaf, shared evenly by the classes, so that none has probability 0. (number, at least 0)
    bins : int, default=255
        Bins of a column at most; columns with no more distinct values are split exactly. (whole number, 2 to 255)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "tree"

    def __init__(
        self,
        *,
        criterion: str | None = None,
        depth: int | None = None,
        leaves: int | None = None,
        min_leaf: float = 1.0,
        min_split: float = 2.0,
        min_gain: float = 0.0,
        alpha: float | str = "cv",
        folds: int = 5,
        one_se: bool = False,
        pseudo_count: float = 2.0,
        bins: int = 255,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.criterion = criterion
        self.depth = depth
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.min_split = min_split
        self.min_gain = min_gain
        self.alpha = alpha
        self.folds = folds
        self.one_se = one_se
        self.pseudo_count = pseudo_count
        self.bins = bins
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class RandomForestClassifier(Importances, ClassificationLearner):
    """Random forest: trees on bootstrap samples, averaged.

    Parameters
    ----------
    trees : int, default=200
        Number of trees, 1 to 100 000. (whole number, 1 to 100000)
    columns : int | None, default=None
        Columns a node looks at; without it the square root of their number for classes, a third of them for numbers. (whole number, at least
        1)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 0)
    min_leaf : float | None, default=None
        The least weight of rows in a leaf; without it 1, and 1 more for every 25 000 rows: large tables feed larger leaves, which then say
        more and are sooner found. (number, at least 0)
    smoothing : float, default=0.02
        Rows of the average class frequencies that every leaf has on top of its own, so that no chance is exactly 0. (number, at least 0)
    class_weights : str, default='equal'
        How much the classes count. (one of equal, balanced)
    bootstrap : bool | None, default=None
        Whether each tree has rows of its own, drawn with replacement (groups as a whole); without it forests do, extra-trees do not. (true or
        false)
    bins : int, default=255
        Bins of a column at most, 2 to 255. (whole number, 2 to 255)
    importance : str, default='impurity'
        What the importances are taken from. (one of impurity, permutation)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "forest"

    def __init__(
        self,
        *,
        trees: int = 200,
        columns: int | None = None,
        depth: int | None = None,
        min_leaf: float | None = None,
        smoothing: float = 0.02,
        class_weights: str = "equal",
        bootstrap: bool | None = None,
        bins: int = 255,
        importance: str = "impurity",
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.trees = trees
        self.columns = columns
        self.depth = depth
        self.min_leaf = min_leaf
        self.smoothing = smoothing
        self.class_weights = class_weights
        self.bootstrap = bootstrap
        self.bins = bins
        self.importance = importance
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class ExtraTreesClassifier(Importances, ClassificationLearner):
    """Extremely randomised trees, averaged.

    Parameters
    ----------
    trees : int, default=200
        Number of trees, 1 to 100 000. (whole number, 1 to 100000)
    columns : int | None, default=None
        Columns a node looks at; without it the square root of their number for classes, a third of them for numbers. (whole number, at least
        1)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 0)
    min_leaf : float | None, default=None
        The least weight of rows in a leaf; without it 1, and 1 more for every 25 000 rows: large tables feed larger leaves, which then say
        more and are sooner found. (number, at least 0)
    smoothing : float, default=0.02
        Rows of the average class frequencies that every leaf has on top of its own, so that no chance is exactly 0. (number, at least 0)
    class_weights : str, default='equal'
        How much the classes count. (one of equal, balanced)
    bootstrap : bool | None, default=None
        Whether each tree has rows of its own, drawn with replacement (groups as a whole); without it forests do, extra-trees do not. (true or
        false)
    bins : int, default=255
        Bins of a column at most, 2 to 255. (whole number, 2 to 255)
    importance : str, default='impurity'
        What the importances are taken from. (one of impurity, permutation)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "extra-trees"

    def __init__(
        self,
        *,
        trees: int = 200,
        columns: int | None = None,
        depth: int | None = None,
        min_leaf: float | None = None,
        smoothing: float = 0.02,
        class_weights: str = "equal",
        bootstrap: bool | None = None,
        bins: int = 255,
        importance: str = "impurity",
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.trees = trees
        self.columns = columns
        self.depth = depth
        self.min_leaf = min_leaf
        self.smoothing = smoothing
        self.class_weights = class_weights
        self.bootstrap = bootstrap
        self.bins = bins
        self.importance = importance
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class GradientBoostingClassifier(Importances, ClassificationLearner):
    """Gradient boosted trees.

    Parameters
    ----------
    loss : str | None, default=None
        The loss: by default squared for numbers, logistic for two classes and multinomial for more. (one of logistic, exponential,
        multinomial)
    rounds : int | None, default=None
        Rounds, 1 to 100 000. Without a number, as many as help on held-out rows. (whole number, 1 to 100000)
    leaves : int, default=31
        Leaves of a tree at most. (whole number, 2 to 2048)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 1)
    rate : float, default=0.1
        How much of each tree's step is taken, at most 2: beyond, each step overshoots by more than it mends. (number, above 0 and at most 2)
    min_leaf : float, default=20.0
        The least weight of rows in a leaf. (number, at least 0)
    min_gain : float, default=0.0
        A split must gain more than this. (number, at least 0)
    l2 : float, default=1.0
        The penalty on squared leaf values. (number, at least 0)
    rows : float, default=1.0
        The share of rows each tree is grown on. (number, above 0 and at most 1)
    columns : float, default=1.0
        The share of columns each tree looks at. (number, above 0 and at most 1)
    bins : int, default=255
        Bins of a column at most. (whole number, 2 to 255)
    patience : int | None, default=None
        Stop after so many rounds without a better loss on held-out rows. Given with rounds too, or by itself. Where fewer than 50 rows would
        be held out, or rows that belong together cannot be, all rounds are made. (whole number, at least 0)
    held_out : float, default=0.1
        The share of rows held out for that. (number, above 0 and at most 0.9)
    increasing : Sequence[str], default=()
        Numeric columns that scores may only rise with, by name. (list of texts)
    decreasing : Sequence[str], default=()
        Numeric columns that scores may only fall with. (list of texts)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "boost"

    def __init__(
        self,
        *,
        loss: str | None = None,
        rounds: int | None = None,
        leaves: int = 31,
        depth: int | None = None,
        rate: float = 0.1,
        min_leaf: float = 20.0,
        min_gain: float = 0.0,
        l2: float = 1.0,
        rows: float = 1.0,
        columns: float = 1.0,
        bins: int = 255,
        patience: int | None = None,
        held_out: float = 0.1,
        increasing: Sequence[str] = (),
        decreasing: Sequence[str] = (),
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.loss = loss
        self.rounds = rounds
        self.leaves = leaves
        self.depth = depth
        self.rate = rate
        self.min_leaf = min_leaf
        self.min_gain = min_gain
        self.l2 = l2
        self.rows = rows
        self.columns = columns
        self.bins = bins
        self.patience = patience
        self.held_out = held_out
        self.increasing = increasing
        self.decreasing = decreasing
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class AdaBoostClassifier(Importances, ClassificationLearner):
    """AdaBoost (SAMME) of stumps, or of another learner: of=SPEC.

    Parameters
    ----------
    of : Any, default='tree(depth=1)'
        What is boosted: its first member. (a spec, or an estimator)
    rounds : int, default=50
        Rounds at most, 1 to 100 000; fewer where a round guesses all rows right, or no better than chance. (whole number, 1 to 100000)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "adaboost"

    def __init__(
        self,
        *,
        of: Any = "tree(depth=1)",
        rounds: int = 50,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.of = of
        self.rounds = rounds
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class BaggingClassifier(ClassificationLearner):
    """The average of several fits of another learner, as in bagging: of=SPEC.

    Parameters
    ----------
    of : Any, default='tree'
        The learner whose fits are averaged; each rung of a ladder by itself. (a spec, or an estimator)
    fits : int, default=10
        Number of fits, 1 to 10 000. (whole number, 1 to 10000)
    resample : str, default='bootstrap'
        What they differ in. (one of starts, subsample, bootstrap)
    fraction : float, default=0.7
        Share of the rows in a subsample. (number, above 0 and at most 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "averaged"
    _given = ("of",)

    def __init__(
        self,
        *,
        of: Any = "tree",
        fits: int = 10,
        resample: str = "bootstrap",
        fraction: float = 0.7,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.of = of
        self.fits = fits
        self.resample = resample
        self.fraction = fraction
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class MixtureOfExpertsClassifier(ClassificationLearner):
    """Linear experts behind a softmax gate, by EM; a list of counts is a ladder.

    Parameters
    ----------
    count : int | Sequence[int], default=4
        Number of experts, 1 to 10 000, but no more than there are rows to learn from, or 100 where these are fewer; a list makes one member
        per number. (whole number or list of whole numbers, 1 to 10000)
    restarts : int, default=4
        Starts of EM, 1 to 10 000, of which the best is followed to the end. (whole number, 1 to 10000)
    ridge : float, default=1.0
        The penalty of the experts' coefficients, on standardised columns: that of ridge or logistic. (number, at least 0)
    gate_ridge : float, default=0.1
        The penalty of the gate's coefficients. (number, at least 0)
    prior : float, default=1.0
        Rows imagined for the gate and for each expert at the centre of the inputs, above 0. (number, above 0)
    iterations : int, default=200
        Iterations of EM at most. (whole number, 1 to 1000000)
    tolerance : float, default=1e-06
        EM ends once an iteration gains no more than this per row. (number, above 0)
    top : int | None, default=None
        Experts asked about each row when predicting, those with the largest shares; all by default. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "experts"

    def __init__(
        self,
        *,
        count: int | Sequence[int] = 4,
        restarts: int = 4,
        ridge: float = 1.0,
        gate_ridge: float = 0.1,
        prior: float = 1.0,
        iterations: int = 200,
        tolerance: float = 1e-06,
        top: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.count = count
        self.restarts = restarts
        self.ridge = ridge
        self.gate_ridge = gate_ridge
        self.prior = prior
        self.iterations = iterations
        self.tolerance = tolerance
        self.top = top
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class NaiveBayes(ClassificationLearner):
    """Attributes independent given the class.

    Parameters
    ----------
    bins : int, default=5
        Bins of equal frequency that numbers are cut into. (whole number, at least 2)
    missing : str, default='value'
        What a missing value counts as. (one of value, ignore)
    columns : int | None, default=None
        Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned from (mutual information).
        Without it all for naive Bayes, 256 for the others, whose cost is the square of that (the cube for a2de). Roots that are named are
        always among them. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "naive-bayes"

    def __init__(
        self,
        *,
        bins: int = 5,
        missing: str = "value",
        columns: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.bins = bins
        self.missing = missing
        self.columns = columns
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class AODE(ClassificationLearner):
    """The average of one-dependence estimators.

    Parameters
    ----------
    threshold : float, default=0.0
        Roots are used whose value has more rows than this; without any the model is naive Bayes. (number)
    bins : int, default=5
        Bins of equal frequency that numbers are cut into. (whole number, at least 2)
    missing : str, default='value'
        What a missing value counts as. (one of value, ignore)
    columns : int | None, default=None
        Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned from (mutual information).
        Without it all for naive Bayes, 256 for the others, whose cost is the square of that (the cube for a2de). Roots that are named are
        always among them. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "aode"

    def __init__(
        self,
        *,
        threshold: float = 0.0,
        bins: int = 5,
        missing: str = "value",
        columns: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.threshold = threshold
        self.bins = bins
        self.missing = missing
        self.columns = columns
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class A2DE(ClassificationLearner):
    """The average of two-dependence estimators.

    Parameters
    ----------
    threshold : float, default=0.0
        Pairs are used whose values occur together in more rows than this; without any the model is aode with this threshold, and without its
        roots naive Bayes. (number)
    bins : int, default=5
        Bins of equal frequency that numbers are cut into. (whole number, at least 2)
    missing : str, default='value'
        What a missing value counts as. (one of value, ignore)
    columns : int | None, default=None
        Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned from (mutual information).
        Without it all for naive Bayes, 256 for the others, whose cost is the square of that (the cube for a2de). Roots that are named are
        always among them. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "a2de"

    def __init__(
        self,
        *,
        threshold: float = 0.0,
        bins: int = 5,
        missing: str = "value",
        columns: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.threshold = threshold
        self.bins = bins
        self.missing = missing
        self.columns = columns
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class BMAAODE(ClassificationLearner):
    """Bayesian average of one-dependence estimators, exact.

    Parameters
    ----------
    bins : int, default=5
        Bins of equal frequency that numbers are cut into. (whole number, at least 2)
    missing : str, default='value'
        What a missing value counts as. (one of value, ignore)
    columns : int | None, default=None
        Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned from (mutual information).
        Without it all for naive Bayes, 256 for the others, whose cost is the square of that (the cube for a2de). Roots that are named are
        always among them. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "bma-aode"

    def __init__(
        self,
        *,
        bins: int = 5,
        missing: str = "value",
        columns: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.bins = bins
        self.missing = missing
        self.columns = columns
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class LMDODE(ClassificationLearner):
    """MAP mixture of one-dependence posteriors.

    Parameters
    ----------
    prior : float, default=1.0
        Exponent of the weights in their Dirichlet prior, which is the prior's parameter less 1. (number, at least 0)
    bins : int, default=5
        Bins of equal frequency that numbers are cut into. (whole number, at least 2)
    missing : str, default='value'
        What a missing value counts as. (one of value, ignore)
    columns : int | None, default=None
        Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned from (mutual information).
        Without it all for naive Bayes, 256 for the others, whose cost is the square of that (the cube for a2de). Roots that are named are
        always among them. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "lmd-ode"

    def __init__(
        self,
        *,
        prior: float = 1.0,
        bins: int = 5,
        missing: str = "value",
        columns: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.prior = prior
        self.bins = bins
        self.missing = missing
        self.columns = columns
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class LMGODE(ClassificationLearner):
    """MAP mixture of one-dependence joint probabilities.

    Parameters
    ----------
    prior : float, default=1.0
        Exponent of the weights in their Dirichlet prior, which is the prior's parameter less 1. (number, at least 0)
    bins : int, default=5
        Bins of equal frequency that numbers are cut into. (whole number, at least 2)
    missing : str, default='value'
        What a missing value counts as. (one of value, ignore)
    columns : int | None, default=None
        Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned from (mutual information).
        Without it all for naive Bayes, 256 for the others, whose cost is the square of that (the cube for a2de). Roots that are named are
        always among them. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "lmg-ode"

    def __init__(
        self,
        *,
        prior: float = 1.0,
        bins: int = 5,
        missing: str = "value",
        columns: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.prior = prior
        self.bins = bins
        self.missing = missing
        self.columns = columns
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class BayesClassifier(ClassificationLearner):
    """Bayes classifier: one density per class, density=SPEC.

    Parameters
    ----------
    density : Any, default='mixture(components=1)'
        The density that each class has one of. (a spec, or an estimator)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "bayes"
    _given = ("density",)

    def __init__(
        self,
        *,
        density: Any = "mixture(components=1)",
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.density = density
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class Ridge(LinearAttributes, RegressionLearner):
    """Ridge regression; a list of lambdas is a ladder, auto the least error of rows left out.

    Parameters
    ----------
    lambda_ : float | Sequence[float] | str, default='auto'
        The penalty: a number, a list (one member per value), or auto, the one of least leave-one-out error. (number or list of numbers or
        auto, at least 0)
    standardise : bool, default=True
        Whether the penalty is on coefficients of standardised columns (indicators keep their scale). (true or false)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "ridge"
    _spelled = {"lambda_": "lambda"}

    def __init__(
        self,
        *,
        lambda_: float | Sequence[float] | str = "auto",
        standardise: bool = True,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.lambda_ = lambda_
        self.standardise = standardise
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class KNeighborsRegressor(RegressionLearner):
    """The k nearest neighbours; a list of k is a ladder.

    Parameters
    ----------
    k : int | Sequence[int], default=10
        Rows that are asked, all of them if there are fewer; a list makes one member per number. (whole number or list of whole numbers, 1 to
        1e9)
    weights : str, default='uniform'
        How the neighbours share the prediction. (one of uniform, distance)
    standardise : bool, default=True
        Whether columns are put on one scale, learned from the training rows: mean 0, deviation 1, indicators as they are. (true or false)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "neighbours"

    def __init__(
        self,
        *,
        k: int | Sequence[int] = 10,
        weights: str = "uniform",
        standardise: bool = True,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.k = k
        self.weights = weights
        self.standardise = standardise
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class SVR(RegressionLearner):
    """Support vector machine, kernel linear or rbf.

    Parameters
    ----------
    kernel : str, default='rbf'
        The kernel. (one of linear, rbf)
    c : float, default=1.0
        What a row beyond its margin costs: large values fit the rows closely. (number, above 0)
    gamma : str | float, default='scale'
        The rate of the kernel rbf, exp(-gamma |x - y|^2). (scale or number, above 0)
    epsilon : float, default=0.1
        Half the width of the tube in which a number costs nothing; in standard deviations of the target if standardised. (number, at least 0)
    standardise : bool, default=True
        Whether inputs (not indicators) and a numeric target are put on one scale, learned from the training rows: mean 0, deviation 1. c, and
        epsilon of numbers, are then in these units; with false all is as in the data. (true or false)
    tolerance : float, default=0.001
        By how much the conditions of the optimum may be violated. (number, above 0)
    cache : float, default=200.0
        Memory for rows of the kernel matrix, in 10^6 bytes, all threads together. (number, above 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "svm"

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        c: float = 1.0,
        gamma: str | float = "scale",
        epsilon: float = 0.1,
        standardise: bool = True,
        tolerance: float = 0.001,
        cache: float = 200.0,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.kernel = kernel
        self.c = c
        self.gamma = gamma
        self.epsilon = epsilon
        self.standardise = standardise
        self.tolerance = tolerance
        self.cache = cache
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class GaussianProcessRegressor(RegressionLearner):
    """A smooth function and noise; lengths of the columns by the evidence of the rows.

    Parameters
    ----------
    kernel : str, default='matern'
        How likeness falls with distance. (one of matern, rbf)
    rows : int, default=300
        Rows at most that lengths and noise are found from, drawn at random, 2 to 5000: the time grows with their cube. (whole number, 2 to
        5000)
    basis : int, default=1000
        Rows at most that predictions are made of, 2 to 10 000. Of more, so many are drawn, and all are fitted by functions about these: the
        time grows with the rows and the square of this. (whole number, 2 to 10000)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "gaussian-process"

    def __init__(
        self,
        *,
        kernel: str = "matern",
        rows: int = 300,
        basis: int = 1000,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.kernel = kernel
        self.rows = rows
        self.basis = basis
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class MLPRegressor(RegressionLearner):
    """A small multilayer perceptron.

    Parameters
    ----------
    hidden : int | Sequence[int], default=(64, 64)
        Units of each hidden layer, 1 to 100 000; 64 layers at most. (whole number or list of whole numbers, 1 to 100000)
    activation : str, default='relu'
        What hidden units make of their inputs: relu or tanh. (one of relu, tanh)
    waves : int, default=8
        Waves by which each column of numbers is seen beside itself, 0 to 1000: what bends along one column is learned sooner. Of more than 64
        such columns none is. (whole number, 0 to 1000)
    rate : float, default=0.006
        The learning rate of Adam. (number, above 0)
    schedule : str, default='cosine'
        How the learning rate goes on: falling to 0 like a cosine over all passes, or constant. (one of cosine, constant)
    batch : int | None, default=None
        Rows in a batch; from 16 to 100 by the number of rows if absent. (whole number, at least 1)
    epochs : int, default=25
        Passes over the rows at most, 1 to 1 000 000 (but always 500 steps, however small the table). (whole number, 1 to 1000000)
    patience : int | None, default=None
        Passes without progress on the rows held out, after which training stops; without a number all passes are made. (whole number, at
        least 0)
    validation : float, default=0.1
        Share of the rows held out; the parameters that were best on them are kept. (number, above 0 and at most 0.5)
    decay : float, default=0.03
        Decoupled weight decay: each step shrinks weights by rate * decay. (number, at least 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "network"

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = (64, 64),
        activation: str = "relu",
        waves: int = 8,
        rate: float = 0.006,
        schedule: str = "cosine",
        batch: int | None = None,
        epochs: int = 25,
        patience: int | None = None,
        validation: float = 0.1,
        decay: float = 0.03,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.waves = waves
        self.rate = rate
        self.schedule = schedule
        self.batch = batch
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.decay = decay
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class DeepEnsembleRegressor(RegressionLearner):
    """Several networks, averaged.

    Parameters
    ----------
    copies : int, default=5
        Number of networks, 1 to 1000. (whole number, 1 to 1000)
    hidden : int | Sequence[int], default=(64, 64)
        Units of each hidden layer, 1 to 100 000; 64 layers at most. (whole number or list of whole numbers, 1 to 100000)
    activation : str, default='relu'
        What hidden units make of their inputs: relu or tanh. (one of relu, tanh)
    waves : int, default=8
        Waves by which each column of numbers is seen beside itself, 0 to 1000: what bends along one column is learned sooner. Of more than 64
        such columns none is. (whole number, 0 to 1000)
    rate : float, default=0.006
        The learning rate of Adam. (number, above 0)
    schedule : str, default='cosine'
        How the learning rate goes on: falling to 0 like a cosine over all passes, or constant. (one of cosine, constant)
    batch : int | None, default=None
        Rows in a batch; from 16 to 100 by the number of rows if absent. (whole number, at least 1)
    epochs : int, default=25
        Passes over the rows at most, 1 to 1 000 000 (but always 500 steps, however small the table). (whole number, 1 to 1000000)
    patience : int | None, default=None
        Passes without progress on the rows held out, after which training stops; without a number all passes are made. (whole number, at
        least 0)
    validation : float, default=0.1
        Share of the rows held out; the parameters that were best on them are kept. (number, above 0 and at most 0.5)
    decay : float, default=0.03
        Decoupled weight decay: each step shrinks weights by rate * decay. (number, at least 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "deep-ensemble"

    def __init__(
        self,
        *,
        copies: int = 5,
        hidden: int | Sequence[int] = (64, 64),
        activation: str = "relu",
        waves: int = 8,
        rate: float = 0.006,
        schedule: str = "cosine",
        batch: int | None = None,
        epochs: int = 25,
        patience: int | None = None,
        validation: float = 0.1,
        decay: float = 0.03,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.copies = copies
        self.hidden = hidden
        self.activation = activation
        self.waves = waves
        self.rate = rate
        self.schedule = schedule
        self.batch = batch
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.decay = decay
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class DecisionTreeRegressor(Importances, RegressionLearner):
    """A decision tree, pruned.

    Parameters
    ----------
    criterion : str | None, default=None
        What splits are judged by: variance for numbers, gini (the default) or entropy for classes. (variance)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 1)
    leaves : int | None, default=None
        Leaves at most. (whole number, at least 2)
    min_leaf : float, default=1.0
        The least weight of rows in a leaf. (number, at least 0)
    min_split : float, default=2.0
        The least weight of rows in a node that is split. (number, at least 0)
    min_gain : float, default=0.0
        By how much a split must lower the mean impurity of the sample. (number, at least 0)
    alpha : float | str, default='cv'
        The price of a leaf, in mean impurity: a number, or cv for the one that predicts held-out folds best. (number or cv, at least 0)
    folds : int, default=5
        Folds by which alpha is chosen, 2 to 10 000. (whole number, 2 to 10000)
    one_se : bool, default=False
        Whether the largest alpha within one standard error of the best is taken. (true or false)
    bins : int, default=255
        Bins of a column at most; columns with no more distinct values are split exactly. (whole number, 2 to 255)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "tree"

    def __init__(
        self,
        *,
        criterion: str | None = None,
        depth: int | None = None,
        leaves: int | None = None,
        min_leaf: float = 1.0,
        min_split: float = 2.0,
        min_gain: float = 0.0,
        alpha: float | str = "cv",
        folds: int = 5,
        one_se: bool = False,
        bins: int = 255,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.criterion = criterion
        self.depth = depth
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.min_split = min_split
        self.min_gain = min_gain
        self.alpha = alpha
        self.folds = folds
        self.one_se = one_se
        self.bins = bins
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class RandomForestRegressor(Importances, RegressionLearner):
    """Random forest: trees on bootstrap samples, averaged.

    Parameters
    ----------
    trees : int, default=200
        Number of trees, 1 to 100 000. (whole number, 1 to 100000)
    columns : int | None, default=None
        Columns a node looks at; without it the square root of their number for classes, a third of them for numbers. (whole number, at least
        1)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 0)
    min_leaf : float | None, default=None
        The least weight of rows in a leaf; without it 1, and 1 more for every 25 000 rows: large tables feed larger leaves, which then say
        more and are sooner found. (number, at least 0)
    bootstrap : bool | None, default=None
        Whether each tree has rows of its own, drawn with replacement (groups as a whole); without it forests do, extra-trees do not. (true or
        false)
    bins : int, default=255
        Bins of a column at most, 2 to 255. (whole number, 2 to 255)
    importance : str, default='impurity'
        What the importances are taken from. (one of impurity, permutation)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "forest"

    def __init__(
        self,
        *,
        trees: int = 200,
        columns: int | None = None,
        depth: int | None = None,
        min_leaf: float | None = None,
        bootstrap: bool | None = None,
        bins: int = 255,
        importance: str = "impurity",
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.trees = trees
        self.columns = columns
        self.depth = depth
        self.min_leaf = min_leaf
        self.bootstrap = bootstrap
        self.bins = bins
        self.importance = importance
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class ExtraTreesRegressor(Importances, RegressionLearner):
    """Extremely randomised trees, averaged.

    Parameters
    ----------
    trees : int, default=200
        Number of trees, 1 to 100 000. (whole number, 1 to 100000)
    columns : int | None, default=None
        Columns a node looks at; without it the square root of their number for classes, a third of them for numbers. (whole number, at least
        1)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 0)
    min_leaf : float | None, default=None
        The least weight of rows in a leaf; without it 1, and 1 more for every 25 000 rows: large tables feed larger leaves, which then say
        more and are sooner found. (number, at least 0)
    bootstrap : bool | None, default=None
        Whether each tree has rows of its own, drawn with replacement (groups as a whole); without it forests do, extra-trees do not. (true or
        false)
    bins : int, default=255
        Bins of a column at most, 2 to 255. (whole number, 2 to 255)
    importance : str, default='impurity'
        What the importances are taken from. (one of impurity, permutation)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "extra-trees"

    def __init__(
        self,
        *,
        trees: int = 200,
        columns: int | None = None,
        depth: int | None = None,
        min_leaf: float | None = None,
        bootstrap: bool | None = None,
        bins: int = 255,
        importance: str = "impurity",
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.trees = trees
        self.columns = columns
        self.depth = depth
        self.min_leaf = min_leaf
        self.bootstrap = bootstrap
        self.bins = bins
        self.importance = importance
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class GradientBoostingRegressor(Importances, RegressionLearner):
    """Gradient boosted trees.

    Parameters
    ----------
    loss : str | None, default=None
        The loss: by default squared for numbers, logistic for two classes and multinomial for more. (one of squared, absolute, huber,
        quantile, poisson)
    rounds : int | None, default=None
        Rounds, 1 to 100 000. Without a number, as many as help on held-out rows. (whole number, 1 to 100000)
    leaves : int, default=31
        Leaves of a tree at most. (whole number, 2 to 2048)
    depth : int | None, default=None
        Splits on any way down at most. (whole number, at least 1)
    rate : float, default=0.1
        How much of each tree's step is taken, at most 2: beyond, each step overshoots by more than it mends. (number, above 0 and at most 2)
    min_leaf : float, default=20.0
        The least weight of rows in a leaf. (number, at least 0)
    min_gain : float, default=0.0
        A split must gain more than this. (number, at least 0)
    l2 : float, default=1.0
        The penalty on squared leaf values. (number, at least 0)
    rows : float, default=1.0
        The share of rows each tree is grown on. (number, above 0 and at most 1)
    columns : float, default=1.0
        The share of columns each tree looks at. (number, above 0 and at most 1)
    bins : int, default=255
        Bins of a column at most. (whole number, 2 to 255)
    patience : int | None, default=None
        Stop after so many rounds without a better loss on held-out rows. Given with rounds too, or by itself. Where fewer than 50 rows would
        be held out, or rows that belong together cannot be, all rounds are made. (whole number, at least 0)
    held_out : float, default=0.1
        The share of rows held out for that. (number, above 0 and at most 0.9)
    increasing : Sequence[str], default=()
        Numeric columns that scores may only rise with, by name. (list of texts)
    decreasing : Sequence[str], default=()
        Numeric columns that scores may only fall with. (list of texts)
    quantile : float, default=0.5
        Which quantile the loss quantile fits. (number, above 0 and at most 1)
    delta : float | None, default=None
        Where the loss huber goes over from squares to absolute values; by default the error that nine tenths of the rows do not exceed at the
        start. (number, above 0)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "boost"

    def __init__(
        self,
        *,
        loss: str | None = None,
        rounds: int | None = None,
        leaves: int = 31,
        depth: int | None = None,
        rate: float = 0.1,
        min_leaf: float = 20.0,
        min_gain: float = 0.0,
        l2: float = 1.0,
        rows: float = 1.0,
        columns: float = 1.0,
        bins: int = 255,
        patience: int | None = None,
        held_out: float = 0.1,
        increasing: Sequence[str] = (),
        decreasing: Sequence[str] = (),
        quantile: float = 0.5,
        delta: float | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.loss = loss
        self.rounds = rounds
        self.leaves = leaves
        self.depth = depth
        self.rate = rate
        self.min_leaf = min_leaf
        self.min_gain = min_gain
        self.l2 = l2
        self.rows = rows
        self.columns = columns
        self.bins = bins
        self.patience = patience
        self.held_out = held_out
        self.increasing = increasing
        self.decreasing = decreasing
        self.quantile = quantile
        self.delta = delta
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class BaggingRegressor(RegressionLearner):
    """The average of several fits of another learner, as in bagging: of=SPEC.

    Parameters
    ----------
    of : Any, default='tree'
        The learner whose fits are averaged; each rung of a ladder by itself. (a spec, or an estimator)
    fits : int, default=10
        Number of fits, 1 to 10 000. (whole number, 1 to 10000)
    resample : str, default='bootstrap'
        What they differ in. (one of starts, subsample, bootstrap)
    fraction : float, default=0.7
        Share of the rows in a subsample. (number, above 0 and at most 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "averaged"
    _given = ("of",)

    def __init__(
        self,
        *,
        of: Any = "tree",
        fits: int = 10,
        resample: str = "bootstrap",
        fraction: float = 0.7,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.of = of
        self.fits = fits
        self.resample = resample
        self.fraction = fraction
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress


class MixtureOfExpertsRegressor(RegressionLearner):
    """Linear experts behind a softmax gate, by EM; a list of counts is a ladder.

    Parameters
    ----------
    count : int | Sequence[int], default=4
        Number of experts, 1 to 10 000, but no more than there are rows to learn from, or 100 where these are fewer; a list makes one member
        per number. (whole number or list of whole numbers, 1 to 10000)
    restarts : int, default=4
        Starts of EM, 1 to 10 000, of which the best is followed to the end. (whole number, 1 to 10000)
    ridge : float, default=1.0
        The penalty of the experts' coefficients, on standardised columns: that of ridge or logistic. (number, at least 0)
    gate_ridge : float, default=0.1
        The penalty of the gate's coefficients. (number, at least 0)
    prior : float, default=1.0
        Rows imagined for the gate and for each expert at the centre of the inputs, above 0. (number, above 0)
    iterations : int, default=200
        Iterations of EM at most. (whole number, 1 to 1000000)
    tolerance : float, default=1e-06
        EM ends once an iteration gains no more than this per row. (number, above 0)
    top : int | None, default=None
        Experts asked about each row when predicting, those with the largest shares; all by default. (whole number, at least 1)
    reading : dict[str, Any] | None, default=None
        How data frames are read: the recipe's fields, such as {"all_columns": True}.
    random_state : Any, default=None
        Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits.
    n_jobs : int | None, default=None
        Threads; None and -1 are all cores. Results do not depend on it.
    progress : bool | None, default=None
        Whether a bar is shown; None shows one in notebooks.
    """

    _kind = "experts"

    def __init__(
        self,
        *,
        count: int | Sequence[int] = 4,
        restarts: int = 4,
        ridge: float = 1.0,
        gate_ridge: float = 0.1,
        prior: float = 1.0,
        iterations: int = 200,
        tolerance: float = 1e-06,
        top: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.count = count
        self.restarts = restarts
        self.ridge = ridge
        self.gate_ridge = gate_ridge
        self.prior = prior
        self.iterations = iterations
        self.tolerance = tolerance
        self.top = top
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
