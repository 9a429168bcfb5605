import type { Clock, Logger, WebPages, WebRequest } from '@cinnabar/sdk';
import type { FastifyReply } from 'fastify';

/** A browser's subscription to a page. */
interface Watch {
  readonly page: string;
  readonly asked: WebRequest;
  readonly isSignedIn: () => Promise<boolean>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Tells browsers that a page's content has changed, or that they may no longer see it. https://html.spec.whatwg.org/multipage/server-sent-events.html */
interface PageEvents {
  hasRoomFor(userId: string): boolean;
  /** Streams events until the browser disconnects, the session ends, or the person may no longer see the page. @throws as `WebPages.watch` */
  watch(reply: FastifyReply, watch: Watch): Promise<void>;
  close(): void;
}

const HEARTBEAT_MS = 20_000;
/** Minimum interval between two reports of a page. */
const CHANGED_MS = 1_000;
/** Maximum number of connections of all browsers, and of one person's. */
const MOST_WATCHED = 500;
const MOST_OF_ONE = 20;

export function createPageEvents(pages: WebPages, clock: Clock, log: Logger): PageEvents {
  /** The user of each connection, by the function that closes it. */
  const open = new Map<() => void, string>();

  return {
    hasRoomFor(userId) {
      const own = [...open.values()].filter((one) => one === userId);
      return open.size < MOST_WATCHED && own.length < MOST_OF_ONE;
    },
    async watch(reply, { page, asked, isSignedIn, headers }) {
      const { actor } = asked;
      const { raw } = reply;
      let cancelBeat: () => void = () => undefined;
      let cancelChange: (() => void) | undefined;
      const end = () => {
        if (!open.delete(end)) return;
        cancelBeat();
        cancelChange?.();
        endWatch();
        raw.end();
      };
      /** Sends an event, or ends the stream when the person may no longer see the page. */
      const send = async (text: string) => {
        const isTheirs = async () => (await isSignedIn()) && (await pages.explain(page, actor)).allowed;
        const allowed = await isTheirs().catch((error: unknown) => {
          log.debug('a page that was watched is gone', { page, error });
          return false;
        });
        if (!open.has(end)) return;
        raw.write(allowed ? text : 'event: gone\ndata: \n\n');
        if (!allowed) end();
      };
      const beat = () => {
        void send(':\n\n');
        cancelBeat = clock.after(HEARTBEAT_MS, beat);
      };
      const changed = () => {
        cancelChange ??= clock.after(CHANGED_MS, () => {
          cancelChange = undefined;
          void send('event: changed\ndata: \n\n');
        });
      };
      let endWatch: () => void = () => undefined;
      // Registered before the first await, so that a client that disconnects meanwhile is removed.
      open.set(end, actor.userId);
      raw.once('close', end);
      try {
        const stop = await pages.watch(page, asked, changed);
        if (open.has(end)) endWatch = stop;
        else stop();
      } catch (error) {
        open.delete(end);
        cancelChange?.();
        throw error;
      }
      reply.hijack();
      if (!open.has(end)) return;
      raw.writeHead(200, {
        ...headers,
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(':\n\n');
      cancelBeat = clock.after(HEARTBEAT_MS, beat);
    },
    close() {
      for (const end of [...open.keys()]) end();
    },
  };
}
