//! What writing a file does to the file that holds the name.

use std::fs;
use std::io::Error as IoError;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use dolmen::store::{check_output, same_file, write_file};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn mode_owner_and_further_names_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("private");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    // Only the superuser can give files away; for others the owner stays what it is.
    let _ = std::os::unix::fs::chown(&path, Some(1234), Some(1235));
    let before = fs::metadata(&path).unwrap();
    write_file(&path, |out| out.write_all(b"new")).unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_eq!((mode(&path), fs::read_to_string(&path).unwrap()), (0o600, "new".into()));

    let second = folder.path().join("second name");
    fs::hard_link(&path, &second).unwrap();
    write_file(&second, |out| out.write_all(b"newer")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    assert!(same_file(&path, &second));
    assert!(!same_file(&path, &folder.path().join("nothing")));
}

#[test]
fn read_only_files_are_refused_whoever_asks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("precious");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    for error in [check_output(&path), write_file(&path, |out| out.write_all(b"new"))] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("precious") && error.contains("read-only"), "{error}");
    }
    assert_eq!((mode(&path), fs::read_to_string(&path).unwrap()), (0o444, "old".into()));
}

#[test]
fn what_a_killed_program_left_is_removed_by_the_next_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.dolmen");
    let left = folder.path().join(".m.dolmen.aB3xYz.tmp");
    let others = [".m.dolmen.tmp", ".n.dolmen.aB3xYz.tmp", ".m.dolmen.notes.tmp.txt"];
    fs::write(&left, "half").unwrap();
    others.iter().for_each(|name| fs::write(folder.path().join(name), "half").unwrap());
    write_file(&path, |out| {
        // Another program at work on the same name leaves this one alone.
        out.write_all(b"sec")?;
        out.flush()?;
        write_file(&path, |out| out.write_all(b"first")).map_err(IoError::other)?;
        out.write_all(b"ond")
    })
    .unwrap();
    assert!(!left.exists());
    assert!(others.iter().all(|name| folder.path().join(name).exists()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1 + others.len());
    assert_eq!(fs::read_to_string(&path).unwrap(), "second");
}
