//! Where results are written: what holds a name is not harmed, and what cannot be written is said before the work.

use std::fs;

use crate::folder::{Folder, IRIS};

/// A folder with a density `d.dolmen`.
fn density() -> Folder {
    let folder = Folder::new();
    folder.succeeds(&["fit", IRIS, "-q", "--model", "gaussian", "-o", "d.dolmen"]);
    folder
}

#[test]
fn a_dash_is_stdout() {
    let folder = density();
    let drawn = folder.succeeds(&["sample", "d.dolmen", "--rows", "3"]);
    assert_eq!(folder.succeeds(&["sample", "d.dolmen", "--rows", "3", "-o", "-"]), drawn);
    let predicted = folder.succeeds(&["predict", "d.dolmen", IRIS]);
    assert_eq!(folder.succeeds(&["predict", "d.dolmen", IRIS, "-o", "-"]), predicted);
    folder.succeeds(&["sample", "d.dolmen", "--rows", "3", "-o", "s.csv"]);
    assert_eq!(folder.read("s.csv"), drawn);
    let network = folder.succeeds(&["generate", "network", "--rows", "5"]);
    assert_eq!(folder.succeeds(&["generate", "network", "--rows", "5", "-o", "-"]), network);
    for option in ["-o", "--oos"] {
        folder.refuses_naming(&["fit", IRIS, option, "-"], &["stdout"]);
    }
    assert_eq!(folder.names(), ["d.dolmen", "s.csv"]);
}

#[test]
fn outputs_that_are_read_too_or_named_twice() {
    let folder = density();
    folder.write("iris.csv", fs::read(IRIS).unwrap());
    fs::create_dir(folder.path("sub")).unwrap();
    let overwrite = ["would overwrite what is read"];
    folder.refuses_naming(&["fit", "iris.csv", "-o", "iris.csv"], &overwrite);
    folder.refuses_naming(&["fit", "iris.csv", "--oos", "sub/../iris.csv"], &overwrite);
    folder.refuses_naming(&["predict", "d.dolmen", "iris.csv", "-o", "./iris.csv"], &overwrite);
    folder.refuses_naming(&["predict", "d.dolmen", "iris.csv", "-o", "d.dolmen"], &overwrite);
    folder.refuses_naming(&["sample", "d.dolmen", "-o", "d.dolmen"], &overwrite);
    let twice = ["--oos and --output are the same file"];
    folder.refuses_naming(&["fit", "iris.csv", "-o", "m", "--oos", "sub/../m"], &twice);
    let generate = ["generate", "network", "-o", "m", "--test-output", "./m"];
    folder.refuses_naming(&generate, &["same file"]);
}

/// The model is worth hours; it is not lost with the matrix. No check beforehand sees that a disk is full.
#[cfg(target_os = "linux")]
#[test]
fn a_model_is_kept_when_the_matrix_cannot_be() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--model", "gaussian", "-o", "m.dolmen", "--oos", "/dev/full"];
    let outcome = folder.dolmen(&fit);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("/dev/full"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("m.dolmen"), "{}", outcome.stdout);
    folder.succeeds(&["sample", "m.dolmen"]);
    let fit = ["fit", IRIS, "-q", "--model", "gaussian", "-o", "/dev/full", "--oos", "m.parquet"];
    assert_eq!(folder.dolmen(&fit).code, 2);
    folder.succeeds(&["weigh", "m.parquet"]);
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_links() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let folder = density();
    folder.succeeds(&["predict", "d.dolmen", IRIS, "-o", "/dev/null"]);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let expected = folder.succeeds(&["sample", "d.dolmen"]);
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    folder.succeeds(&["sample", "d.dolmen", "-o", "pipe"]);
    assert_eq!(reader.join().unwrap(), expected);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());

    fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/old.csv", "old");
    symlink("sub/old.csv", folder.path("link.csv")).unwrap();
    symlink("sub/new.csv", folder.path("dangling.csv")).unwrap();
    for (link, file) in [("link.csv", "sub/old.csv"), ("dangling.csv", "sub/new.csv")] {
        folder.succeeds(&["sample", "d.dolmen", "-o", link]);
        assert!(fs::symlink_metadata(folder.path(link)).unwrap().is_symlink());
        assert_eq!(folder.read(file), expected);
    }
    symlink("circle", folder.path("circle")).unwrap();
    folder.refuses_naming(&["sample", "d.dolmen", "-o", "circle"], &["circle"]);
}
