//! Live runtimes: attaching to one, observing and controlling it.

use super::{Context, Service, blocking, receipts, registry};
use crate::authority::Subject;
use crate::limits;
use crate::protocol::{
    AcceptedResult, AttachParams, AttachResult, AttachmentParams, CloseResult, DetachResult, Endpoint, Harness,
    InterruptResult, InvokeParams, InvokeResult, LeaseResult, Permission, Reason, RespondParams, RpcError,
    RuntimeDescribeParams, RuntimeDescribeResult, Source, SteerParams, SteerResult, SubmitParams, SubmitResult,
};
use crate::runtime::wire::is_client_id;
use crate::runtime::{self, Api, Attachment, Caller, Joining, Known, timely};
use std::future::Future;
use std::sync::Arc;

/// What of a runtime a client can be permitted.
const PERMISSIONS: [Permission; 4] =
    [Permission::Observe, Permission::Interact, Permission::Approve, Permission::Terminate];

/// How a client names a runtime.
enum RuntimeSelector {
    /// By the id of its entry, or of that of its session.
    Id(String),
    RuntimeId(String),
    Endpoint(Endpoint, Source),
}

impl RuntimeSelector {
    fn of(params: &mut AttachParams) -> Result<Self, RpcError> {
        let (id, runtime_id) = (params.id.take(), params.runtime_id.take());
        match (id, runtime_id, params.endpoint.take(), params.source.take()) {
            (Some(id), None, None, None) => Ok(Self::Id(id)),
            (None, Some(id), None, None) => Ok(Self::RuntimeId(id)),
            (None, None, Some(named), Some(source)) => Ok(Self::Endpoint(receipts::endpoint(&named)?, source)),
            _ => {
                let how = "name the runtime by exactly one of `id`, `runtimeId`, and `endpoint` with `source`";
                Err(RpcError::new(Reason::InvalidParams, how))
            }
        }
    }

    /// The runtime that is meant. Out of scope is nowhere.
    async fn find(self, service: &Arc<Service>, context: &Context) -> Result<Arc<Known>, RpcError> {
        match self {
            Self::Endpoint(endpoint, source) => {
                let (service, context) = (service.clone(), context.clone());
                let resolve = move || {
                    if !context.grant.reaches_source(&source) || !receipts::is_in_scope(&service, &context, &endpoint) {
                        return Err(runtime::ReceiptError::NotLive(endpoint));
                    }
                    service.runtimes.resolve(&endpoint, &source)
                };
                Ok(blocking(resolve).await??)
            }
            Self::RuntimeId(id) => {
                let known = receipts::published(service, context).await?.known;
                by_runtime_id(&known, &id)?.ok_or_else(|| {
                    let id: String = id.chars().take(200).collect();
                    RpcError::new(
                        Reason::NotFound,
                        format!("no runtime `{id}` is published; `runtime/receipts` names them"),
                    )
                })
            }
            Self::Id(id) => {
                let known = receipts::published(service, context).await?.known;
                match by_runtime_id(&known, &id)? {
                    Some(known) if !is_of_a_session(&id) => Ok(known),
                    // Of a session that has this id, a runtime that only calls itself so is none.
                    _ => by_session(service, context, known, id).await,
                }
            }
        }
    }
}

fn by_runtime_id(known: &[Arc<Known>], id: &str) -> Result<Option<Arc<Known>>, RpcError> {
    let mut found = known.iter().filter(|known| known.record.runtime_id == id);
    match (found.next(), found.next()) {
        (first, None) => Ok(first.cloned()),
        (_, Some(_)) => {
            let how = "several live runtimes claim this id; name one by its `endpoint` and `source`";
            Err(RpcError::new(Reason::AmbiguousRuntime, how))
        }
    }
}

/// Whether an id looks like that of a session.
fn is_of_a_session(id: &str) -> bool {
    id.split_once(':').is_some_and(|(harness, _)| harness.parse::<Harness>().is_ok())
}

/// The newest runtime of a session that answers, else the newest.
async fn by_session(
    service: &Arc<Service>,
    context: &Context,
    mut known: Vec<Arc<Known>>,
    id: String,
) -> Result<Arc<Known>, RpcError> {
    let (of, asking) = (service.clone(), context.clone());
    let known = blocking(move || -> Result<_, RpcError> {
        let snapshot = of.registry.snapshot(&asking)?;
        let item = snapshot.item(&id, &asking.grant).ok_or_else(|| registry::missing(&id))?;
        let session = (item.harness(), item.session_id());
        known.retain(|known| snapshot.sessions_of(&known.record.public(None)).contains(&session));
        Ok(known)
    })
    .await??;
    let observed = service.runtimes.ask(known.clone(), limits::PROBE_LIST).await;
    let answering = observed.answering().next().map(|runtime| runtime.receipt.endpoint);
    let found = match answering {
        Some(endpoint) => known.into_iter().find(|known| known.record.endpoint == endpoint),
        None => known.into_iter().next(),
    };
    found.ok_or_else(|| {
        let why = "no live runtime runs this session; its entry's `resume` says how a person gets back into it";
        RpcError::new(Reason::NotLive, why)
    })
}

pub(super) async fn attach(
    service: Arc<Service>,
    context: Context,
    mut params: AttachParams,
) -> Result<AttachResult, RpcError> {
    let invalid = |why: String| RpcError::new(Reason::InvalidParams, why);
    let history = match params.history_limit {
        None => limits::HISTORY_DEFAULT,
        Some(limit) => u32::try_from(limit)
            .ok()
            .filter(|limit| *limit <= limits::HISTORY_MAX)
            .ok_or_else(|| invalid(format!("`historyLimit` must be from 0 to {}, not {limit}", limits::HISTORY_MAX)))?,
    };
    registry::check_list("permissions", params.permissions.as_deref())?;
    let permissions = permissions(&context, params.permissions.as_deref())?;
    let client_id = params.client_id.take().unwrap_or_else(|| service.new_client_id());
    if !is_client_id(&client_id) {
        return Err(invalid("`clientId` is 1 to 128 of `A-Z a-z 0-9 . _ -`".to_owned()));
    }
    let known = RuntimeSelector::of(&mut params)?.find(&service, &context).await?;
    let place = service.attaching.clone().try_acquire_owned().map_err(|_| {
        let max = service.limits().attachments;
        RpcError::new(Reason::Limit, format!("a client has at most {max} attachments; detach one first"))
    })?;
    let seat = service.runtimes.seat(&known, &client_id).await.ok_or_else(|| {
        RpcError::new(Reason::Busy, "this client id is attached to this runtime already; detach it, or take another")
    })?;
    let source = known.record.source.clone();
    let joining = Joining {
        subject: blocking(move || Subject::of(&source)).await?,
        id: Service::new_handle("attachment")?,
        caller: Caller { client_id, permissions },
        seat,
        // A runtime gives one at least.
        history: history.max(1),
        auto_renew: params.auto_renew != Some(false),
        outgoing: context.client.outgoing(),
        known: context.replied.clone(),
        place,
    };
    let (attachment, mut snapshot, lease) = timely(limits::ATTACH, service.runtimes.attach(&known, joining)).await?;
    // What the client gave up while it was waiting is not there for what was asked for before.
    let grant = context.client.grant();
    service.runtimes.narrow(&grant);
    if !grant.reaches(&attachment.subject) || !grant.allows(Permission::Observe) {
        attachment.leave().await;
        return Err(no_attachment(&attachment.id));
    }
    let skipped = snapshot.history.len().saturating_sub(history as usize);
    snapshot.history.drain(..skipped);
    snapshot.replay.retain(|event| params.after.is_none_or(|after| event.sequence > Some(after)));
    Ok(AttachResult {
        attachment: attachment.id.clone(),
        client_id: attachment.client_id.clone(),
        descriptor: snapshot.descriptor.raw,
        history: snapshot.history,
        history_cursor: snapshot.history_cursor,
        replay: snapshot.replay,
        lease,
    })
}

/// What the client may do at the runtime: no more than it may do here, and no more than it asks for.
fn permissions(context: &Context, asked: Option<&[Permission]>) -> Result<Vec<Permission>, RpcError> {
    let asked = asked.unwrap_or(&PERMISSIONS);
    if let Some(other) = asked.iter().find(|permission| !PERMISSIONS.contains(permission)) {
        return Err(RpcError::new(Reason::InvalidParams, format!("a runtime knows no permission `{}`", other.id())));
    }
    if !asked.contains(&Permission::Observe) {
        return Err(RpcError::new(Reason::InvalidParams, "an attachment needs `observe`"));
    }
    Ok(asked.iter().copied().filter(|permission| context.grant.allows(*permission)).collect())
}

fn attachment(service: &Service, context: &Context, id: &str) -> Result<Arc<Attachment>, RpcError> {
    let found = service.runtimes.attachment(id).filter(|attachment| context.grant.reaches(&attachment.subject));
    found.ok_or_else(|| no_attachment(id))
}

fn no_attachment(id: &str) -> RpcError {
    let id: String = id.chars().take(200).collect();
    RpcError::new(Reason::NotFound, format!("there is no attachment `{id}`, or it is over; attach again"))
}

/// Asks the runtime of an attachment something, with what this request may do.
async fn ask<T, F>(attachment: &Attachment, context: &Context, ask: impl FnOnce(Api) -> F) -> Result<T, RpcError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, runtime::Error>> + Send + 'static,
{
    Ok(attachment.ask(|permission| context.grant.allows(permission), ask).await?)
}

pub(super) async fn detach(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<DetachResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    Ok(DetachResult { lease: attachment.leave().await })
}

pub(super) async fn describe(
    service: Arc<Service>,
    context: Context,
    params: RuntimeDescribeParams,
) -> Result<RuntimeDescribeResult, RpcError> {
    let descriptor = match params {
        RuntimeDescribeParams { attachment: Some(id), id: None, runtime_id: None } => {
            let attachment = attachment(&service, &context, &id)?;
            ask(&attachment, &context, |api| async move { api.describe().await }).await?
        }
        RuntimeDescribeParams { attachment: None, id, runtime_id } => {
            let mut params = AttachParams { id, runtime_id, ..AttachParams::default() };
            let known = RuntimeSelector::of(&mut params)?.find(&service, &context).await?;
            timely(limits::RUNTIME_CALL, known.describe()).await?
        }
        _ => {
            let how = "name the runtime by exactly one of `attachment`, `id` and `runtimeId`";
            return Err(RpcError::new(Reason::InvalidParams, how));
        }
    };
    Ok(RuntimeDescribeResult { descriptor: descriptor.raw })
}

pub(super) async fn lease(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<LeaseResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let lease = ask(&attachment, &context, |api| async move { api.lease().await }).await?;
    attachment.note(&lease);
    Ok(LeaseResult { lease })
}

pub(super) async fn heartbeat(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<LeaseResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let lease = ask(&attachment, &context, |api| async move { api.heartbeat().await }).await?;
    attachment.note(&lease);
    Ok(LeaseResult { lease })
}

pub(super) async fn acquire_control(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<LeaseResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let lease = as_controller(&attachment, &context, |api| async move { api.acquire_control().await }).await?;
    attachment.note(&lease);
    Ok(LeaseResult { lease })
}

pub(super) async fn take_control(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<LeaseResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let lease = as_controller(&attachment, &context, |api| async move { api.take_control().await }).await?;
    attachment.note(&lease);
    Ok(LeaseResult { lease })
}

/// Does what only who drives may do; doing it is taking the wheel, if it is free.
async fn as_controller<T, F>(
    attachment: &Attachment,
    context: &Context,
    work: impl FnOnce(Api) -> F,
) -> Result<T, RpcError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, runtime::Error>> + Send + 'static,
{
    // Where control is another's the next heartbeat tells.
    attachment.hold();
    let answer =
        attachment.ask(|permission| context.grant.allows(permission), work).await.map_err(maybe_still_running)?;
    attachment.hold();
    Ok(answer)
}

/// A runtime that did not answer in time may still do what it was asked.
fn maybe_still_running(error: runtime::Error) -> RpcError {
    match error {
        runtime::Error::Silent(_) => {
            let why = "a prompt may still run: look at the runtime's state before you send it again";
            RpcError::new(error.reason(), format!("{error}; {why}"))
        }
        error => error.into(),
    }
}

/// Waits for a turn, however long. Who does not want the answer any more stops waiting; the turn goes on.
async fn await_turn<T, F>(
    attachment: &Attachment,
    context: &Context,
    work: impl FnOnce(Api) -> F,
) -> Result<T, RpcError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, runtime::Error>> + Send + 'static,
{
    attachment.hold();
    let waiting = tokio::spawn(work(attachment.api(|permission| context.grant.allows(permission))));
    tokio::select! {
        biased;
        () = context.client.ended().cancelled() => {
            let why = "the client has no more to say, so its wait is over; the turn goes on";
            Err(RpcError::new(Reason::Cancelled, why))
        }
        answer = waiting => match answer {
            // What it says is of something that is not there any more for who gave up its scope meanwhile.
            Ok(_) if !context.client.grant().reaches(&attachment.subject) => {
                Err(RpcError::new(Reason::NotFound, "the attachment is out of scope by now"))
            }
            Ok(answer) => Ok(answer?),
            Err(_) => Err(RpcError::new(Reason::Internal, "the server failed; please report this")),
        },
    }
}

pub(super) async fn submit(
    service: Arc<Service>,
    context: Context,
    params: SubmitParams,
) -> Result<SubmitResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let SubmitParams { prompt, images, .. } = params;
    let of = attachment.clone();
    let submit = |api: Api| async move { of.submit(&api, &prompt, &images.unwrap_or_default()).await };
    Ok(SubmitResult { reply: await_turn(&attachment, &context, submit).await? })
}

pub(super) async fn send_input(
    service: Arc<Service>,
    context: Context,
    params: SubmitParams,
) -> Result<AcceptedResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let SubmitParams { prompt, images, .. } = params;
    let send = |api: Api| async move { api.send_input(&prompt, &images.unwrap_or_default()).await };
    Ok(AcceptedResult { accepted: as_controller(&attachment, &context, send).await? })
}

pub(super) async fn steer(
    service: Arc<Service>,
    context: Context,
    params: SteerParams,
) -> Result<SteerResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let steer = |api: Api| async move { api.steer(&params.prompt).await };
    Ok(SteerResult { queued: as_controller(&attachment, &context, steer).await? })
}

pub(super) async fn interrupt(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<InterruptResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let interrupt = |api: Api| async move { api.interrupt().await };
    Ok(InterruptResult { interrupted: as_controller(&attachment, &context, interrupt).await? })
}

pub(super) async fn respond(
    service: Arc<Service>,
    context: Context,
    params: RespondParams,
) -> Result<AcceptedResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let respond = |api: Api| async move { api.respond(&params.response).await };
    Ok(AcceptedResult { accepted: as_controller(&attachment, &context, respond).await? })
}

pub(super) async fn invoke(
    service: Arc<Service>,
    context: Context,
    params: InvokeParams,
) -> Result<InvokeResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    let invoke = |api: Api| async move { api.invoke(&params.operation).await };
    Ok(InvokeResult { result: await_turn(&attachment, &context, invoke).await? })
}

pub(super) async fn close(
    service: Arc<Service>,
    context: Context,
    params: AttachmentParams,
) -> Result<CloseResult, RpcError> {
    let attachment = attachment(&service, &context, &params.attachment)?;
    // The other streams may end before the answer comes.
    service.runtimes.closing(&attachment, Some(&attachment.client_id));
    let closed = ask(&attachment, &context, |api| async move { api.close().await }).await;
    if !matches!(closed, Ok(true)) {
        service.runtimes.closing(&attachment, None);
    }
    Ok(CloseResult { closed: closed? })
}
