//! A client that is connected.

use crate::reply_queue::ReplyQueue;
use crate::socket::Socket;
use std::sync::Arc;

/// A handle of a client, used to end its connection.
pub(crate) struct Client {
    /// That of its connection.
    pub number: u64,
    /// The number of power cuts at which it began.
    pub epoch: u64,
    pub socket: Arc<Socket>,
    /// Its replies, when the handshake is over.
    pub reply_queue: Option<Arc<ReplyQueue>>,
}

impl Client {
    /// End its connection; its blocked threads wake up.
    pub(crate) fn end(&self) {
        match &self.reply_queue {
            Some(reply_queue) => reply_queue.close(),
            None => self.socket.shut(),
        }
    }
}
