//! One row of the method table: how a call is authorized, read, done and answered.

use super::{Context, Service};
use crate::authority::Narrowing;
use crate::limits;
use crate::protocol::{AuthorityRequest, Permission, ProgressToken, Reason, RequestMeta, RpcError, WithMeta};
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use jsonrpsee::{Extensions, RpcModule};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::sync::Arc;

type Register = dyn Fn(&mut RpcModule<Service>) -> Result<(), RegisterMethodError> + Send + Sync;

/// How the requests of a method are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// Concurrently with others, until the end of input.
    Normal,
    /// Later requests wait for it: it changes what they may do.
    Exclusive,
    /// It has its own time after the end of input: it acts on others, and its answer says whether it did.
    OutlastsInput,
}

/// The part of a row that does not depend on the types of params and result.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub name: &'static str,
    pub summary: &'static str,
    pub permissions: &'static [Permission],
    pub reasons: &'static [&'static [Reason]],
    pub scheduling: Scheduling,
}

/// One row of the method table.
pub struct Method {
    /// The name on the wire.
    pub name: &'static str,
    /// What the method does, in one sentence.
    pub summary: &'static str,
    /// The permissions that a client needs, all of them.
    pub permissions: &'static [Permission],
    /// The reasons for which a call can fail, without those that any request can meet.
    pub(super) reasons: &'static [&'static [Reason]],
    /// How its requests are scheduled.
    pub scheduling: Scheduling,
    /// Makes the schema of the params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// Makes the schema of the result.
    pub result: fn(&mut SchemaGenerator) -> Schema,
    pub(super) register: Box<Register>,
}

type Handler<P, R> = fn(&Service, &Context, P) -> Result<R, RpcError>;
type Answer = Result<Box<RawValue>, ErrorObjectOwned>;

/// The row of a method that runs on the connection's thread: it takes no time, reads no file and compares nothing with a
/// scope.
pub(super) fn inline<P, R>(header: Header, handler: Handler<P, R>) -> Method
where
    P: DeserializeOwned + JsonSchema + 'static,
    R: Serialize + JsonSchema + 'static,
{
    row::<P, R>(header, move |module| {
        let call = move |params: Params<'_>, service: &Service, extensions: &Extensions| -> Answer {
            let params = params.as_str();
            let admitted = admit(extensions.get(), &header, params);
            let result = admitted.and_then(|(context, _)| handler(service, &context, read_params(params)?));
            result.and_then(|result| write(&result)).map_err(to_object)
        };
        module.register_method(header.name, call).map(drop)
    })
}

/// The row of a method that runs on a thread for work that reads files.
pub(super) fn blocking<P, R>(header: Header, handler: Handler<P, R>) -> Method
where
    P: DeserializeOwned + JsonSchema + 'static,
    R: Serialize + JsonSchema + 'static,
{
    row::<P, R>(
        header,
        spawned(header, move |service, context, params| async move {
            let work =
                move || handler(&service, &context, read_params(params.as_str())?).and_then(|result| write(&result));
            super::blocking(work).await?
        }),
    )
}

/// The row of an async method: its work is dropped when the client cancels the request.
pub(super) fn waiting<P, R, F>(header: Header, handler: fn(Arc<Service>, Context, P) -> F) -> Method
where
    P: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + 'static,
    F: Future<Output = Result<R, RpcError>> + Send + 'static,
{
    row::<P, R>(
        header,
        spawned(header, move |service, context, params: Params<'static>| async move {
            let params = match params.as_str() {
                Some(text) if text.len() > limits::PARAMS_INLINE => {
                    super::blocking(move || read_params(params.as_str())).await??
                }
                text => read_params(text)?,
            };
            handler(service, context, params).await.and_then(|result| write(&result))
        }),
    )
}

fn row<P: JsonSchema, R: JsonSchema>(
    header: Header,
    register: impl Fn(&mut RpcModule<Service>) -> Result<(), RegisterMethodError> + Send + Sync + 'static,
) -> Method {
    let Header { name, summary, permissions, reasons, scheduling } = header;
    Method {
        name,
        summary,
        permissions,
        reasons,
        scheduling,
        params: |generator| generator.subschema_for::<P>(),
        result: |generator| generator.subschema_for::<R>(),
        register: Box::new(register),
    }
}

/// Registers a method whose work takes time: admits the request first, then does `work`.
fn spawned<F>(
    header: Header,
    work: impl Fn(Arc<Service>, Context, Params<'static>) -> F + Clone + Send + Sync + 'static,
) -> impl Fn(&mut RpcModule<Service>) -> Result<(), RegisterMethodError> + Send + Sync + 'static
where
    F: Future<Output = Result<Box<RawValue>, RpcError>> + Send + 'static,
{
    move |module| {
        let work = work.clone();
        let call = move |params: Params<'static>, service: Arc<Service>, extensions: Extensions| {
            let work = work.clone();
            async move {
                let admitted = admit(extensions.get(), &header, params.as_str());
                let (mut context, authority) = admitted.map_err(to_object)?;
                let reporter = context.clone();
                let done = async {
                    if let Some(authority) = authority {
                        let kept = service.resolve_scope(authority).await.map_err(in_meta)?;
                        context.grant = context.grant.keep(&kept);
                        authorize(&context, header.permissions)?;
                    }
                    work(service, context, params).await
                };
                reporter.with_progress(done).await.map_err(to_object)
            }
        };
        module.register_async_method(header.name, call).map(drop)
    }
}

/// Checks the permissions, then reads `_meta`. What that asks to keep is left to the caller, since resolving it takes
/// time. Later fields of the params are no concern of who may not ask at all.
fn admit(
    context: Option<&Context>,
    header: &Header,
    params: Option<&str>,
) -> Result<(Context, Option<AuthorityRequest>), RpcError> {
    let context = context.cloned();
    let mut context = context.ok_or_else(|| RpcError::new(Reason::Internal, "a request without a client"))?;
    authorize(&context, header.permissions)?;
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
        if matches!(&token, ProgressToken::String(text) if text.len() > limits::ID_BYTES) {
            let why = format!("`progressToken` is longer than {} bytes", limits::ID_BYTES);
            return Err(in_meta(RpcError::new(Reason::InvalidParams, why)));
        }
        context.report_to(token, header.name);
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
    // Recording the path costs many times what reading does, so only a failure pays for it.
    if let Ok(read) = serde_json::from_str(params) {
        return Ok(read);
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
