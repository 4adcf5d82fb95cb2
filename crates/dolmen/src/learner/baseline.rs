//! The simplest learner of each task: what any model must beat.
