import type { Framing, Intake } from './intake.js';

type Fetch = typeof globalThis.fetch;

/**
 * `fetch` for one server, whose answers are checked as they come in: an endless body, or an event without an end, fails instead of filling
 * the memory.
 * @param onFlood gets the error; the body fails with it, too
 */
export function boundedFetch(intake: Intake, onFlood: (error: unknown) => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    try {
      intake.answer();
    } catch (error) {
      await response.body?.cancel();
      onFlood(error);
      throw error;
    }
    if (response.body === null) return response;
    const check = intake.watch(framingOf(response));
    const checked = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        try {
          check(chunk);
          controller.enqueue(chunk);
        } catch (error) {
          controller.error(error);
          onFlood(error);
        }
      },
    });
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(checked), { status, statusText, headers });
    // Those that check where an answer came from look at these two.
    return Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
  };
}

function framingOf({ headers }: Response): Framing {
  return headers.get('content-type')?.startsWith('text/event-stream') === true ? 'event' : 'body';
}
