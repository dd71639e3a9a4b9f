//! `tackroom schema`: the protocol as files, or on standard output.

use super::FAILED;
use super::output::{self, Failure, note};
use crate::service;
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct SchemaArgs {
    /// Directory to write schema.json, meta.json and openrpc.json to
    #[arg(long, value_name = "DIR", default_value = "schema")]
    out: PathBuf,
    /// Print one of them instead
    #[arg(long, value_name = "WHICH")]
    print: Option<Document>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Document {
    Schema,
    Meta,
    Openrpc,
}

/// The documents by file name, as they are written.
pub(super) fn documents() -> Result<[(&'static str, String); 3], serde_json::Error> {
    let text = |document: &Value| serde_json::to_string_pretty(document).map(|text| text + "\n");
    Ok([
        ("schema.json", text(&service::schema())?),
        ("meta.json", text(&service::meta())?),
        ("openrpc.json", text(&service::openrpc())?),
    ])
}

pub(super) fn run(args: &SchemaArgs) -> Result<ExitCode, Failure> {
    let documents = documents()?;
    if let Some(which) = args.print {
        output::write(&documents[which as usize].1)?;
        return Ok(ExitCode::SUCCESS);
    }
    let failed = |verb: &str, path: &Path, error: std::io::Error| {
        Failure::new(FAILED, format!("cannot {verb} {}: {error}", path.display()))
    };
    std::fs::create_dir_all(&args.out).map_err(|error| failed("make", &args.out, error))?;
    for (name, text) in &documents {
        let path = args.out.join(name);
        std::fs::write(&path, text).map_err(|error| failed("write", &path, error))?;
        note(&format!("wrote {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}
