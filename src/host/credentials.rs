//! Who may come in, and as what. Tokens are kept as their hashes, which compare in constant time.

use crate::limits;
use crate::platform::random;
use crate::protocol::{Permission, Token};
use std::io;

/// A set of the permissions that a runtime knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    observe: bool,
    interact: bool,
    approve: bool,
    terminate: bool,
}

impl Grants {
    /// All of them.
    pub(super) const ALL: Self = Self { observe: true, interact: true, approve: true, terminate: true };
    /// Who only looks.
    pub(super) const OBSERVER: Self = Self { interact: false, approve: false, terminate: false, ..Self::ALL };
    /// Who drives, and does not end the runtime.
    pub(super) const INTERACTIVE: Self = Self { terminate: false, ..Self::ALL };

    /// What a header says: words with commas between and nothing else; none for the empty one. `None`: it says something
    /// that is not known.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut grants = Self::default();
        for word in text.split(',').filter(|_| !text.is_empty()) {
            *match word {
                "observe" => &mut grants.observe,
                "interact" => &mut grants.interact,
                "approve" => &mut grants.approve,
                "terminate" => &mut grants.terminate,
                _ => return None,
            } = true;
        }
        Some(grants)
    }

    /// Whether it is among them.
    pub(super) fn has(self, permission: Permission) -> bool {
        match permission {
            Permission::Observe => self.observe,
            Permission::Interact => self.interact,
            Permission::Approve => self.approve,
            Permission::Terminate => self.terminate,
            _ => false,
        }
    }

    /// What is in both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            observe: self.observe && other.observe,
            interact: self.interact && other.interact,
            approve: self.approve && other.approve,
            terminate: self.terminate && other.terminate,
        }
    }
}

/// What a token stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credential {
    /// What it allows.
    pub(super) grants: Grants,
    /// The only client that may show it; absent: the owner's own, which any may.
    pub(super) client_id: Option<String>,
}

/// The tokens that count.
#[derive(Debug)]
pub(super) struct Credentials {
    owner: blake3::Hash,
    minted: Vec<(blake3::Hash, Credential)>,
}

impl Credentials {
    /// The owner's alone.
    pub(super) fn new(owner: &Token) -> Self {
        Self { owner: blake3::hash(owner.secret().as_bytes()), minted: Vec::new() }
    }

    /// What a token stands for, if anything.
    pub(super) fn find(&self, token: &[u8]) -> Option<Credential> {
        let hash = blake3::hash(token);
        if hash == self.owner {
            return Some(Credential { grants: Grants::ALL, client_id: None });
        }
        self.minted.iter().find(|(known, _)| *known == hash).map(|(_, credential)| credential.clone())
    }

    /// Makes a token for a client.
    ///
    /// # Errors
    /// Where there are too many, or the system gives no random numbers.
    pub(super) fn mint(&mut self, client_id: &str, grants: Grants) -> io::Result<Token> {
        if self.minted.len() >= limits::HOST_CREDENTIALS {
            return Err(io::Error::other("there are too many credentials; revoke some"));
        }
        let token = random::hex::<32>()?;
        let credential = Credential { grants, client_id: Some(client_id.to_owned()) };
        self.minted.push((blake3::hash(token.as_bytes()), credential));
        Ok(Token::new(token))
    }

    /// Forgets all tokens of a client. False: there was none.
    pub(super) fn revoke(&mut self, client_id: &str) -> bool {
        let before = self.minted.len();
        self.minted.retain(|(_, credential)| credential.client_id.as_deref() != Some(client_id));
        self.minted.len() < before
    }
}
