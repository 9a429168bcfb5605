import { randomUUID } from 'node:crypto';
import { type Clock, type Document, type Language, type Logger, z } from '@cinnabar/sdk';
import {
  type Alerts,
  createSaver,
  type Handed,
  type HostNotices,
  handedSchema,
  raisedOf,
  readKept,
  type SendingNotices,
} from '../observability/alert-queue.js';
import type { ClusterChannel, RequestKind } from './assignment.js';

type Handing = Handed & { readonly from: number };

const handover: RequestKind<Handing, null> = {
  name: 'owner-notices.take',
  body: handedSchema.extend({ from: z.int().min(0) }),
  answer: z.null(),
};

/** Notices for owners belong to no server: the host of direct messages sends them. */
const NOTICE_GROUP = 0;
const DEADLINE_MS = 20_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60_000;
/** Maximum number of waiting notices of each kind. The oldest are dropped; they are in the log. */
const MOST_WAITING = 100;

/** Makes this host send the notices of other hosts to the owners, too. */
export function takeNotices(own: SendingNotices, channel: Pick<ClusterChannel, 'answer'>): SendingNotices {
  channel.answer(handover, async ({ from, ...handed }) => {
    await own.take(from, handed);
    return null;
  });
  return own;
}

/**
 * The notices of a host that sends none itself. It stores each notice until the sending host has accepted it, which may be after a restart, or when the group
 * of that host is served again.
 */
export function createHandedNotices(options: {
  readonly channel: Pick<ClusterChannel, 'ask'>;
  readonly group: number;
  readonly document: () => Document<Alerts>;
  readonly redact: (text: string) => string;
  readonly languages: () => readonly Language[];
  readonly clock: Clock;
  readonly log: Logger;
}): HostNotices {
  const { channel, group, document, redact, languages, clock, log } = options;
  const closing = new AbortController();
  let waiting: Handed = { alerts: [], sentences: [] };
  let opened = false;
  let isHanding = false;
  let retryMs = FIRST_RETRY_MS;
  let cancel: () => void = () => undefined;

  const saver = createSaver(
    () => document().set({ kinds: {}, undelivered: [], taken: [], handing: waiting }),
    clock,
    log,
  );
  const save = async () => {
    // Before `open`, the stored notices have not been read, and would be overwritten.
    if (opened) await saver.save();
  };

  const handOver = async (): Promise<void> => {
    if (!opened || isHanding || closing.signal.aborted) return;
    isHanding = true;
    cancel();
    try {
      while (!isEmpty(waiting) && !closing.signal.aborted) {
        const handed = waiting;
        await channel.ask(
          NOTICE_GROUP,
          handover,
          { from: group, ...handed },
          { deadlineMs: DEADLINE_MS, signal: closing.signal },
        );
        waiting = without(waiting, handed);
        retryMs = FIRST_RETRY_MS;
        await save();
      }
    } catch (error) {
      if (!closing.signal.aborted) {
        log.debug('notices to the owners could not be handed over', { error });
        cancel = clock.after(retryMs, () => void handOver());
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
      }
    } finally {
      isHanding = false;
    }
  };
  const keep = (more: Partial<Handed>) => {
    waiting = together(waiting, { alerts: [], sentences: [], ...more });
    void save();
    void handOver();
  };

  return {
    alert(alert) {
      const { text, remedy, ...raised } = raisedOf(alert, languages(), clock.now(), redact);
      log.warn(`${text} ${remedy}`, { alert: alert.kind });
      if (!closing.signal.aborted) keep({ alerts: [{ ...raised, text, remedy, id: randomUUID(), kind: alert.kind }] });
    },
    // The sending host checks whether the owners want an alert.
    sendWhere: () => () => undefined,
    tell(sentence) {
      if (closing.signal.aborted) return;
      keep({ sentences: [{ id: randomUUID(), sentence: redact(sentence), at: clock.now() }] });
    },
    async open() {
      const isEarly = !isEmpty(waiting);
      waiting = together((await readKept(document, log)).handing, waiting);
      opened = true;
      if (isEarly) await save();
      void handOver();
    },
    // Other hosts may take long to accept the notices: shutting down does not wait for them.
    idle: async () => false,
    async close() {
      closing.abort();
      cancel();
      await saver.idle();
    },
  };
}

const isEmpty = ({ alerts, sentences }: Handed) => alerts.length === 0 && sentences.length === 0;

const together = (earlier: Handed, later: Handed): Handed => ({
  alerts: [...earlier.alerts, ...later.alerts].slice(-MOST_WAITING),
  sentences: [...earlier.sentences, ...later.sentences].slice(-MOST_WAITING),
});

const without = (all: Handed, gone: Handed): Handed => ({
  alerts: all.alerts.filter(({ id }) => !gone.alerts.some((one) => one.id === id)),
  sentences: all.sentences.filter(({ id }) => !gone.sentences.some((one) => one.id === id)),
});
