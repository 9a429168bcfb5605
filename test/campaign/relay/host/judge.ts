import { z } from '@cinnabar/sdk';
import type { LettaRunView } from '@cinnabar/sdk/testing';
import { countOpenCards } from './journal.js';
import type { People } from './life.js';
import { ordersIn } from './orders.js';
import type { Stage } from './stage.js';

const prompt = z.object({
  messages: z.tuple([z.object({ role: z.literal('user'), content: z.string(), otid: z.string() })]),
});

/** What came of a run of events. */
export interface Verdict {
  readonly counts: Readonly<Record<string, number>>;
  /** Each a sentence. */
  readonly violations: readonly string[];
}

/** @param taken ids of all events that were ever written down as taken */
export async function judge(stage: Stage, people: People, taken: ReadonlySet<string>): Promise<Verdict> {
  const openCards = await countOpenCards(stage.cards);
  const { diary } = stage;
  const posted = stage.posted();
  const keys = [...keysByOrder(stage)];
  const isTold = (number: number) => diary.begun.includes(number);
  const isRefused = (number: number) =>
    posted.some(({ replyTo, content }) => replyTo === people.said.get(number) && !content.includes(`for ${number}`));
  const given = [...people.said.keys()];
  const known = given.filter((number) => taken.has(`message:${people.said.get(number)?.id}`));
  const became = (outcome: string) => diary.decided.filter(({ status }) => status === outcome).length;
  const answers = posted.map(({ content }) => content).filter((content) => /^\w+ for [\d, ]+$/.test(content));
  return {
    counts: {
      'orders given': given.length,
      'orders taken': known.length,
      'brought to an agent': given.filter(isTold).length,
      'given up, and said so': given.filter((number) => !isTold(number) && isRefused(number)).length,
      'prompts sent again': keys.flatMap(([, used]) => [...used.values()]).reduce((sum, times) => sum + times - 1, 0),
      'approvals given': became('success'),
      'approvals denied': became('denied'),
      answers: answers.length,
    },
    violations: [
      ...known
        .filter((number) => !isTold(number) && !isRefused(number))
        .map((number) => `order ${number} was taken, and nothing came of it${historyOf(number, stage)}`),
      ...keys
        .filter(([, used]) => used.size > 1)
        .map(([number, used]) => `order ${number} was sent under ${[...used.keys()].join(' and ')}`),
      ...twice(diary.begun).map((number) => `an agent began order ${number} twice`),
      ...twice(diary.wiped).map((number) => `the tool was used twice for order ${number}`),
      ...diary.wiped
        .filter((number) => !people.approved.has(number))
        .map((number) => `the tool was used for order ${number}, and nobody had approved it`),
      ...twice(answers).map((content) => `"${content}" was posted twice`),
      ...stage.agents().flatMap(({ name, pending }) => (pending ? [`${name} still waits for an approval`] : [])),
      ...(openCards === 0 ? [] : [`${openCards} cards are still open`]),
    ],
  };
}

/** What the Letta server knows of an order. */
function historyOf(number: number, { letta }: Stage): string {
  const isMeant = ({ prompt }: LettaRunView) => ordersIn(prompt ?? '').some((order) => order.number === number);
  const runs = letta.runs.filter(isMeant).map(({ id, otids, status, stopReason }) => [id, otids, status, stopReason]);
  return runs.length === 0 ? ': it was never sent' : `: ${JSON.stringify(runs)}`;
}

/** Under which keys each order was sent, and how often. A key that is tried anew gets a number behind it. */
function keysByOrder({ letta }: Stage): ReadonlyMap<number, ReadonlyMap<string, number>> {
  const found = new Map<number, Map<string, number>>();
  for (const { body } of letta.requests) {
    const sent = prompt.safeParse(body).data?.messages[0];
    if (sent === undefined) continue;
    const key = sent.otid.replace(/-\d{1,2}$/, '');
    for (const { number } of ordersIn(sent.content)) {
      const keys = found.get(number) ?? new Map<string, number>();
      found.set(number, keys.set(key, (keys.get(key) ?? 0) + 1));
    }
  }
  return found;
}

function twice<T>(all: readonly T[]): readonly T[] {
  return [...new Set(all.filter((one, index) => all.indexOf(one) !== index))];
}
