//! A connected client.

use crate::reply_queue::ReplyQueue;
use crate::socket::Socket;
use std::sync::Arc;

/// A handle by which the connection of a client is ended.
pub(crate) struct Client {
    /// The number of the connection.
    pub number: u64,
    /// The number of power cuts before the connection began.
    pub epoch: u64,
    pub socket: Arc<Socket>,
    /// The client's replies, once the handshake is over.
    pub reply_queue: Option<Arc<ReplyQueue>>,
}

impl Client {
    /// End the connection. Threads that block on it wake up.
    pub(crate) fn end(&self) {
        match &self.reply_queue {
            Some(reply_queue) => reply_queue.close(),
            None => self.socket.shut(),
        }
    }
}
