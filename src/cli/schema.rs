//! `tackroom schema`: the protocol as files, or on standard output.

use crate::service;
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct SchemaArgs {
    /// The directory to write schema.json, meta.json and openrpc.json into
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
pub fn documents() -> Result<[(&'static str, String); 3], serde_json::Error> {
    let text = |document: &Value| serde_json::to_string_pretty(document).map(|text| text + "\n");
    Ok([
        ("schema.json", text(&service::schema())?),
        ("meta.json", text(&service::meta())?),
        ("openrpc.json", text(&service::openrpc())?),
    ])
}

pub fn run(args: &SchemaArgs) -> Result<ExitCode, Box<dyn Error>> {
    let documents = documents()?;
    if let Some(which) = args.print {
        print!("{}", documents[which as usize].1);
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::create_dir_all(&args.out).map_err(|error| format!("cannot make {}: {error}", args.out.display()))?;
    for (name, text) in &documents {
        let path = args.out.join(name);
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        eprintln!("wrote {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
