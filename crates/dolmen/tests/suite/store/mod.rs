//! Model files: every bit survives, and whatever is not whole or not known is refused with a clear word.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod forged;
mod fuzz;
#[cfg(unix)]
mod on_unix;

use std::fs;
use std::io::{Error as IoError, Write};
use std::path::PathBuf;

use dolmen::Error;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::ensemble::{Ensemble, Stack};
use dolmen::learner::density::gaussian::Gaussian;
use dolmen::learner::{Fitted, Sample, predict};
use dolmen::recipe::ModelFile;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::store::{Record, write_file};
use dolmen::table::{Features, Schema};
use dolmen::task::{Classification, Density};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn rows() -> Features {
    let values = (0..80).map(|i| (f64::from(i) * 1.3).sin() + f64::from(i % 2)).collect();
    Features::numeric(values, 2).unwrap()
}

fn ensemble() -> Ensemble<Density> {
    let x = rows();
    let sample = Sample::new(x.rows(), &()).unwrap();
    Stack::default().member(Gaussian::default()).fit_ensemble(&sample, &run()).unwrap()
}

fn file() -> ModelFile {
    let record = ensemble().record().unwrap();
    ModelFile::new::<Density>(Schema::numeric(2), None, Vec::new(), record)
}

#[test]
fn files_from_before_conventions_were_kept_are_read() {
    #[derive(Serialize)]
    struct Before {
        task: String,
        schema: Schema,
        target: Option<String>,
        classes: Vec<String>,
        model: Record,
    }
    let now = file();
    let ModelFile { task, schema, target, classes, model, .. } = now.clone();
    let before = Before { task, schema, target, classes, model };
    let body = rmp_serde::to_vec_named(&before).unwrap();
    let bytes = [b"DOLMEN", &1_u32.to_le_bytes()[..], &crc32fast::hash(&body).to_le_bytes(), &body]
        .concat();
    let (_folder, path, _) = stored();
    let expected = ModelFile { writer: String::new(), ..now };
    assert!(read(&path, &bytes).unwrap() == expected);
}

/// A folder and the path of a model file in it.
fn stored() -> (TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.dolmen");
    file().write::<Density>(&path, Catalogue::standard().registry()).unwrap();
    let bytes = fs::read(&path).unwrap();
    (folder, path, bytes)
}

/// What reading these bytes as a model file says.
fn read(path: &PathBuf, bytes: &[u8]) -> dolmen::Result<ModelFile> {
    fs::write(path, bytes).unwrap();
    ModelFile::read(path)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Body {
    #[serde(with = "dolmen::store::floats")]
    array: Vec<f64>,
    number: f64,
    list: Vec<f64>,
}

#[test]
fn infinities_and_nan_survive_bit_by_bit() {
    let odd = f64::from_bits(0x7ff8_0000_0000_0123);
    let values = vec![f64::NEG_INFINITY, f64::INFINITY, odd, -0.0, 5e-324, f64::MAX, 0.1];
    let body = Body { array: values.clone(), number: f64::NEG_INFINITY, list: values };
    let record = Record::new("test", 3, &body).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.dolmen");
    fs::write(&path, ModelFile { model: record, ..file() }.encode().unwrap()).unwrap();
    let read = ModelFile::read(&path).unwrap().model;
    assert_eq!((read.kind(), read.version()), ("test", 3));
    let found: Body = read.read().unwrap();
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&found.array), bits(&body.array));
    assert_eq!(bits(&found.list), bits(&body.list));
    assert_eq!(found.number, f64::NEG_INFINITY);
}

#[test]
fn a_model_read_back_predicts_the_same_bits() {
    let (_folder, path, _) = stored();
    let read = ModelFile::read(&path).unwrap();
    assert_eq!(read, file());
    assert!(read.is::<Density>() && !read.is::<Classification>());
    let model = Catalogue::standard().registry().model::<Density>(&read.model).unwrap();
    let x = rows();
    let expected = predict(&ensemble(), x.rows(), &run()).unwrap();
    assert_eq!(predict(model.as_ref(), x.rows(), &run()).unwrap(), expected);
}

#[test]
fn truncated_at_every_length() {
    let (_folder, path, bytes) = stored();
    for length in 0..bytes.len() {
        let error = read(&path, &bytes[..length]).unwrap_err().to_string();
        let word = if length == 0 { "not a Dolmen model file" } else { "truncated" };
        assert!(error.contains(word) && error.contains("m.dolmen"), "{length}: {error}");
    }
    assert!(read(&path, &bytes).is_ok());
}

#[test]
fn every_flipped_byte_is_noticed() {
    let (_folder, path, bytes) = stored();
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            assert!(read(&path, &damaged).is_err(), "byte {at} with {flip:#x}");
        }
    }
}

#[test]
fn a_body_that_is_nonsense_behind_a_right_checksum_does_not_panic() {
    let (_folder, path, bytes) = stored();
    let header = 14;
    for at in header..bytes.len() {
        let mut forged = bytes.clone();
        forged[at] ^= 0x15;
        let checksum = crc32fast::hash(&forged[header..]);
        forged[10..14].copy_from_slice(&checksum.to_le_bytes());
        // Some changes are harmless (a letter of a name); none may bring the program down.
        if let Ok(file) = read(&path, &forged) {
            let _ = Catalogue::standard()
                .registry()
                .model::<Density>(&file.model)
                .map(|model| model.width());
        }
    }
}

#[test]
fn foreign_and_newer_files() {
    let (_folder, path, bytes) = stored();
    for foreign in ["a,b\n1,2\n", "PAR1", "DOLLAR and more", "D\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
        let error = read(&path, foreign.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::Data { .. }), "{error}");
        assert!(error.to_string().contains("not a Dolmen model file"), "{error}");
    }
    let mut newer = bytes;
    newer[6..10].copy_from_slice(&3_u32.to_le_bytes());
    let error = read(&path, &newer).unwrap_err();
    assert!(matches!(error, Error::Version { found: 3, supported: 2, .. }), "{error}");
    assert!(error.hint().unwrap().contains("update"));
    assert!(matches!(ModelFile::read(&path.join("nowhere")), Err(Error::Io { .. })));
}

#[test]
fn unknown_and_newer_records() {
    let registry = Catalogue::standard().registry();
    let unknown =
        registry.model::<Density>(&Record::new("acme.histogram", 1, &()).unwrap()).unwrap_err();
    assert!(matches!(&unknown, Error::UnknownKind { kind } if kind == "acme.histogram"));
    let kind = ensemble().record().unwrap().kind().to_string();
    let newer = registry.model::<Density>(&Record::new(&kind, 99, &()).unwrap()).unwrap_err();
    assert!(matches!(newer, Error::Version { found: 99, .. }), "{newer}");
    assert!(newer.to_string().contains(&kind));
    let damaged = registry.model::<Density>(&Record::new(&kind, 1, &"text").unwrap()).unwrap_err();
    assert!(damaged.to_string().contains(&kind), "{damaged}");
    // A classifier's registry does not read densities.
    let gaussian = Record::new("gaussian", 1, &()).unwrap();
    assert!(matches!(
        Catalogue::standard().registry().model::<Classification>(&gaussian),
        Err(Error::UnknownKind { .. })
    ));
}

#[test]
fn a_failed_write_keeps_the_old_file_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let names = || fs::read_dir(folder.path()).unwrap().count();
    let fails = |out: &mut dyn Write| {
        out.write_all(b"half of it")?;
        Err(IoError::other("the disk is full"))
    };
    let error = write_file(&path, fails).unwrap_err().to_string();
    assert!(error.contains("out.txt") && error.contains("the disk is full"), "{error}");
    assert_eq!(names(), 0);

    write_file(&path, |out| out.write_all(b"old")).unwrap();
    assert!(write_file(&path, fails).is_err());
    assert_eq!((names(), fs::read_to_string(&path).unwrap()), (1, "old".into()));
    write_file(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!((names(), fs::read_to_string(&path).unwrap()), (1, "new".into()));

    let error = write_file(&folder.path().join("nowhere/out.txt"), |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    assert!(write_file(folder.path(), |_| Ok(())).is_err());
}

/// The weights of components come from sums over rows, and need not sum to 1 to the last bit.
#[test]
fn densities_of_rows_with_weights_of_any_size_can_be_read_back() {
    let x = rows();
    let registry = Catalogue::standard().registry();
    for size in [1e-13, 1e-6, 0.1, 1.0, 1e6, 1e13] {
        let weights: Vec<f64> = (0..40).map(|i| size * (1.1 + f64::from(i * i % 13))).collect();
        let sample = Sample::<Density>::new(x.rows(), &()).unwrap().counted(&weights).unwrap();
        for spec in ["gaussian", "mixture(components=3)", "gaussian(beta=1e-3)"] {
            let learner = Density::learner(&Spec::parse(spec).unwrap()).unwrap();
            for model in learner.fit(&sample, &run()).unwrap() {
                let record = model.record().unwrap();
                let read = registry.model::<Density>(&record).unwrap();
                assert_eq!(read.record().unwrap(), record, "{spec} with weights about {size}");
            }
        }
    }
}

#[test]
fn a_model_that_cannot_be_read_back_is_not_written() {
    let (_folder, path, before) = stored();
    // The columns are not those of the model.
    let other = ModelFile { schema: Schema::numeric(3), ..file() };
    let error =
        other.write::<Density>(&path, Catalogue::standard().registry()).unwrap_err().to_string();
    assert!(error.contains("cannot be read back"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}
