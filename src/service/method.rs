//! One row of the method table: how a call is authorized, read, done and answered.

use super::{Context, Progress, Service, blocking};
use crate::protocol::{Permission, Reason, RpcError, WithMeta};
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use jsonrpsee::{Extensions, RpcModule};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Where a method's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// On the connection's own thread: it takes no time.
    Inline,
    /// On a thread for work that reads files.
    Blocking,
}

type Register = dyn Fn(&mut RpcModule<Service>) -> Result<(), RegisterMethodError> + Send + Sync;

/// One row of the table.
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// What a client needs, all of it.
    pub permissions: &'static [Permission],
    /// Makes the schema of its params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// Makes the schema of its result.
    pub result: fn(&mut SchemaGenerator) -> Schema,
    pub(super) register: Box<Register>,
}

type Handler<P, R> = fn(&Service, &Context, P) -> Result<R, RpcError>;
type Answer = Result<Box<RawValue>, ErrorObjectOwned>;

/// The row of a method that waits for nobody.
pub(super) fn row<P, R>(
    name: &'static str,
    permissions: &'static [Permission],
    work: Work,
    handler: Handler<P, R>,
    summary: &'static str,
) -> Method
where
    P: DeserializeOwned + JsonSchema + 'static,
    R: Serialize + JsonSchema + 'static,
{
    let register: Box<Register> = match work {
        Work::Inline => Box::new(move |module| {
            let call = move |params: Params<'_>, service: &Service, extensions: &Extensions| -> Answer {
                serve(service, extensions.get(), permissions, handler, params.as_str())
            };
            module.register_method(name, call).map(drop)
        }),
        Work::Blocking => Box::new(move |module| {
            let call = move |params: Params<'static>, service: Arc<Service>, extensions: Extensions| async move {
                let work = move || serve(&service, extensions.get(), permissions, handler, params.as_str());
                blocking(work).await.unwrap_or_else(|error| Err(to_object(error)))
            };
            module.register_async_method(name, call).map(drop)
        }),
    };
    method::<P, R>(name, permissions, summary, register)
}

fn method<P: JsonSchema, R: JsonSchema>(
    name: &'static str,
    permissions: &'static [Permission],
    summary: &'static str,
    register: Box<Register>,
) -> Method {
    Method {
        name,
        summary,
        permissions,
        params: |generator| generator.subschema_for::<P>(),
        result: |generator| generator.subschema_for::<R>(),
        register,
    }
}

/// The row of a method that waits for others: its work is dropped when nobody wants the answer any more.
pub(super) fn waiting_row<P, R, F>(
    name: &'static str,
    permissions: &'static [Permission],
    handler: fn(Arc<Service>, Context, P) -> F,
    summary: &'static str,
) -> Method
where
    P: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + 'static,
    F: Future<Output = Result<R, RpcError>> + Send + 'static,
{
    let register: Box<Register> = Box::new(move |module| {
        let call = move |params: Params<'static>, service: Arc<Service>, extensions: Extensions| async move {
            match admit(extensions.get(), permissions, params.as_str()) {
                Ok((context, params)) => handler(service, context, params).await.and_then(|result| write(&result)),
                Err(error) => Err(error),
            }
            .map_err(to_object)
        };
        module.register_async_method(name, call).map(drop)
    });
    method::<P, R>(name, permissions, summary, register)
}

/// Authorizes, reads the params, does the work, writes the result.
fn serve<P: DeserializeOwned, R: Serialize>(
    service: &Service,
    context: Option<&Context>,
    permissions: &[Permission],
    handler: Handler<P, R>,
    params: Option<&str>,
) -> Answer {
    let admitted = admit(context, permissions, params);
    let result = admitted.and_then(|(context, params)| handler(service, &context, params));
    result.and_then(|result| write(&result)).map_err(to_object)
}

/// Authorizes and reads the params.
fn admit<P: DeserializeOwned>(
    context: Option<&Context>,
    permissions: &[Permission],
    params: Option<&str>,
) -> Result<(Context, P), RpcError> {
    let context = context.cloned();
    let mut context = context.ok_or_else(|| RpcError::new(Reason::Internal, "a request without a client"))?;
    apply_meta(&mut context, params)?;
    authorize(&context, permissions)?;
    Ok((context, read_params(params.unwrap_or("{}"))?))
}

fn write<R: Serialize>(result: &R) -> Result<Box<RawValue>, RpcError> {
    serde_json::value::to_raw_value(result)
        .map_err(|error| RpcError::new(Reason::Internal, format!("the result cannot be written: {error}")))
}

/// Reads params; an error names the member that it is about.
fn read_params<P: DeserializeOwned>(params: &str) -> Result<P, RpcError> {
    let mut json = serde_json::Deserializer::from_str(params);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = match error.path().to_string().as_str() {
            "." => "the params do not fit".to_owned(),
            path => format!("`{path}` does not fit"),
        };
        // Where in the text it stands says nothing to a person who did not write it.
        let why = error.inner().to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        RpcError::new(Reason::InvalidParams, format!("{place}: {why}"))
    })
}

fn apply_meta(context: &mut Context, params: Option<&str>) -> Result<(), RpcError> {
    let Some(params) = params.filter(|params| params.contains("_meta")) else { return Ok(()) };
    let invalid = |why: String| RpcError::new(Reason::InvalidParams, format!("`_meta` does not fit: {why}"));
    let Some(meta) = read_params::<WithMeta>(params)?.meta else { return Ok(()) };
    if let Some(request) = &meta.authority {
        context.grant = context.grant.narrow(request).map_err(|error| invalid(error.to_string()))?;
    }
    context.progress = meta.progress_token.map(|token| Arc::new(Progress { token, last: Mutex::new(Instant::now()) }));
    Ok(())
}

pub(super) fn authorize(context: &Context, permissions: &[Permission]) -> Result<(), RpcError> {
    match permissions.iter().find(|permission| !context.grant.allows(**permission)) {
        None => Ok(()),
        Some(missing) => {
            let id = missing.id();
            let hint =
                format!("this needs the permission `{id}`, which this client does not have; `--allow {id}` gives it");
            Err(RpcError::new(Reason::Unauthorized, hint).with("permission", id))
        }
    }
}

fn to_object(error: RpcError) -> ErrorObjectOwned {
    let code = i32::try_from(error.reason().code()).unwrap_or(-32603);
    ErrorObjectOwned::owned(code, error.to_string(), Some(error.data()))
}
