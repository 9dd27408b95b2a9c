//! Zstandard frames (RFC 8878).

use std::cell::Cell;

use types::limits;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::{Output, malformed};
use crate::{BatchError, Codec};

thread_local! {
    /// The context of this thread's last use: making one costs as much as unpacking 16 KiB.
    static KEPT: Cell<Option<DCtx<'static>>> = const { Cell::new(None) };
}

pub(crate) struct Zstd<'a> {
    /// There until dropped.
    context: Option<DCtx<'static>>,
    rest: &'a [u8],
    frame_ended: bool,
}

impl<'a> Zstd<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Result<Self, BatchError> {
        let context = KEPT.take().or_else(fresh).ok_or(malformed(Codec::Zstd))?;
        Ok(Self {
            context: Some(context),
            rest: body,
            frame_ended: false,
        })
    }

    pub(crate) fn step(&mut self, output: &mut Output) -> Result<usize, BatchError> {
        loop {
            if self.frame_ended && self.rest.is_empty() {
                return Ok(0);
            }
            // One byte more than allowed, so that reaching the bound and exceeding it differ.
            let count = limits::UNPACK_STEP_BYTES.min(output.allowance().saturating_add(1));
            let written = self.run(output.room(count)).ok_or(malformed(Codec::Zstd))?;
            if written > 0 {
                return output.filled(written);
            }
        }
    }

    /// One call of the library; `None` when it fails or gets nowhere.
    fn run(&mut self, room: &mut [u8]) -> Option<usize> {
        let mut input = InBuffer::around(self.rest);
        let mut output = OutBuffer::around(room);
        let hint = self
            .context
            .as_mut()?
            .decompress_stream(&mut output, &mut input)
            .ok()?;
        let (read, written) = (input.pos(), output.pos());
        self.rest = self.rest.get(read..)?;
        self.frame_ended = hint == 0;
        (read > 0 || written > 0).then_some(written)
    }
}

impl Drop for Zstd<'_> {
    /// Keeps the context, unless a frame with a large window made it large.
    fn drop(&mut self) {
        let Some(mut context) = self.context.take() else {
            return;
        };
        let small = context.sizeof() <= limits::ZSTD_CONTEXT_KEPT_BYTES;
        if small && context.reset(ResetDirective::SessionOnly).is_ok() {
            KEPT.set(Some(context));
        }
    }
}

fn fresh() -> Option<DCtx<'static>> {
    let mut context = DCtx::try_create()?;
    let window = DParameter::WindowLogMax(limits::ZSTD_WINDOW_LOG_MAX);
    context.set_parameter(window).ok()?;
    Some(context)
}
