//! One row of the method table: how a call is authorized, read, done and answered.

use super::{Context, Service, blocking};
use crate::authority::Narrowing;
use crate::protocol::{AuthorityRequest, Permission, Reason, RequestMeta, RpcError, WithMeta};
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use jsonrpsee::{Extensions, RpcModule};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Where a method's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// On the connection's own thread: it takes no time, reads no file and compares nothing with a scope.
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
                let params = params.as_str();
                let admitted = admit(extensions.get(), permissions, name, params);
                let result = admitted.and_then(|(context, _)| handler(service, &context, read_params(params)?));
                result.and_then(|result| write(&result)).map_err(to_object)
            };
            module.register_method(name, call).map(drop)
        }),
        Work::Blocking => waiting(name, permissions, move |service, context, params| async move {
            let work = move || {
                let params = params.as_str();
                handler(&service, &context, read_params(params)?).and_then(|result| write(&result))
            };
            blocking(work).await?
        }),
    };
    method::<P, R>(name, permissions, summary, register)
}

/// Registers a method whose work takes time: admitted first, then done by `work`.
fn waiting<F>(
    name: &'static str,
    permissions: &'static [Permission],
    work: impl Fn(Arc<Service>, Context, Params<'static>) -> F + Clone + Send + Sync + 'static,
) -> Box<Register>
where
    F: Future<Output = Result<Box<RawValue>, RpcError>> + Send + 'static,
{
    Box::new(move |module| {
        let work = work.clone();
        let call = move |params: Params<'static>, service: Arc<Service>, extensions: Extensions| {
            let work = work.clone();
            async move {
                let (mut context, authority) =
                    admit(extensions.get(), permissions, name, params.as_str()).map_err(to_object)?;
                let reporter = context.clone();
                let done = async {
                    if let Some(authority) = authority {
                        let kept = service.resolve_scope(authority).await.map_err(in_meta)?;
                        context.grant = context.grant.keep(&kept);
                        authorize(&context, permissions)?;
                    }
                    work(service, context, params).await
                };
                reporter.with_progress(done).await.map_err(to_object)
            }
        };
        module.register_async_method(name, call).map(drop)
    })
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
    let register = waiting(name, permissions, move |service, context, params: Params<'static>| async move {
        let params = read_params(params.as_str())?;
        handler(service, context, params).await.and_then(|result| write(&result))
    });
    method::<P, R>(name, permissions, summary, register)
}

/// Checks the permissions, then reads `_meta`. What that asks to keep is left to the caller, since resolving it takes
/// time. Later fields of the params are no concern of who may not ask at all.
fn admit(
    context: Option<&Context>,
    permissions: &[Permission],
    method: &str,
    params: Option<&str>,
) -> Result<(Context, Option<AuthorityRequest>), RpcError> {
    let context = context.cloned();
    let mut context = context.ok_or_else(|| RpcError::new(Reason::Internal, "a request without a client"))?;
    authorize(&context, permissions)?;
    // Decoded like any other field: its name may be spelled with escapes, and twice it is refused.
    let meta = match params.filter(|params| params.starts_with('{')) {
        Some(params) => read_params::<WithMeta>(Some(params))?.meta.unwrap_or_default(),
        None => RequestMeta::default(),
    };
    if let Some(authority) = &meta.authority {
        Narrowing::check(authority)
            .map_err(|error| in_meta(RpcError::new(Reason::InvalidParams, error.to_string())))?;
    }
    if let Some(token) = meta.progress_token {
        context.report_to(token, method);
    }
    Ok((context, meta.authority))
}

fn in_meta(error: RpcError) -> RpcError {
    match error.reason() {
        Reason::InvalidParams => RpcError::new(Reason::InvalidParams, format!("`_meta` does not fit: {error}")),
        _ => error,
    }
}

fn write<R: Serialize>(result: &R) -> Result<Box<RawValue>, RpcError> {
    serde_json::value::to_raw_value(result)
        .map_err(|error| RpcError::new(Reason::Internal, format!("the result cannot be written: {error}")))
}

/// Reads params; an error names the field that it is about.
fn read_params<P: DeserializeOwned>(params: Option<&str>) -> Result<P, RpcError> {
    let params = params.unwrap_or("{}");
    if params.starts_with('[') {
        return Err(RpcError::new(Reason::InvalidParams, "params go by name, as an object"));
    }
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
