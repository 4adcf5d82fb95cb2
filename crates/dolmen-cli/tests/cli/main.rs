//! The program as its users meet it: arguments and files in, text, JSON, exit codes and files out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod advise;
mod bad_input;
mod bad_models;
mod blends;
mod blocks;
mod compare;
mod documented;
mod folder;
mod formats;
mod help;
mod interrupt;
mod joint;
mod kept_matrix;
mod members;
mod memory;
mod old_models;
mod outputs;
mod pictures;
mod recipes;
mod reproduce;
mod stacks;
mod tables;
mod weigh;
mod whole_way;
mod written;
