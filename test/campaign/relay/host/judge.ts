import type { LettaRunView } from '@cinnabar/local-letta';
import { z } from '@cinnabar/sdk';
import { givenUpOf } from './given-up.js';
import type { People } from './life.js';
import { ordersIn } from './orders.js';
import type { Stage } from './stage.js';

const prompt = z.object({
  messages: z.tuple([z.object({ role: z.literal('user'), content: z.string(), otid: z.string() })]),
});

const ANSWER = /^\w+ for [\d, ]+$/;

/** The result of a run of events. */
export interface Verdict {
  readonly counts: Readonly<Record<string, number>>;
  /** Each violation as a sentence. */
  readonly violations: readonly string[];
}

/** @param taken ids of all events that were ever recorded as taken */
export async function judge(stage: Stage, people: People, taken: ReadonlySet<string>): Promise<Verdict> {
  const openCards = await stage.countOpenCards();
  const { diary } = stage;
  const posted = stage.posted();
  const keys = [...keysByOrder(stage)];
  const isTold = (number: number) => diary.begun.includes(number);
  const given = [...people.said.keys()];
  // Neither an answer nor a card.
  const refusals = posted.filter(({ content }) => !ANSWER.test(content) && !content.includes('use its tool'));
  const isReplied = (number: number) => refusals.some(({ replyTo }) => replyTo === people.said.get(number));
  const givenUp = givenUpOf({
    channels: stage.channels.map(({ id }) => given.filter((number) => people.said.get(number)?.channel.id === id)),
    prompts: promptsAt(stage).map(({ orders }) => orders),
    refused: new Set(given.filter(isReplied)),
  });
  const isRefused = (number: number) => givenUp.has(number);
  const known = given.filter((number) => taken.has(`message:${people.said.get(number)?.id}`));
  const became = (outcome: string) => diary.decided.filter(({ status }) => status === outcome).length;
  const answers = posted.map(({ content }) => content).filter((content) => ANSWER.test(content));
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

/** The Letta server's records about an order. */
function historyOf(number: number, { letta }: Stage): string {
  const isMeant = ({ prompt }: LettaRunView) => ordersIn(prompt ?? '').some((order) => order.number === number);
  const runs = letta.runs.filter(isMeant).map(({ id, otids, status, stopReason }) => [id, otids, status, stopReason]);
  return runs.length === 0 ? ': it was never sent' : `: ${JSON.stringify(runs)}`;
}

/** The keys under which each order was sent, with their numbers of requests. */
function keysByOrder(stage: Stage): ReadonlyMap<number, ReadonlyMap<string, number>> {
  const found = new Map<number, Map<string, number>>();
  for (const { key, orders } of promptsAt(stage)) {
    for (const number of orders) {
      const keys = found.get(number) ?? new Map<string, number>();
      found.set(number, keys.set(key, (keys.get(key) ?? 0) + 1));
    }
  }
  return found;
}

/** The sent prompts, each with the numbers of its orders. A key that is used for another attempt has a number at its end. */
function promptsAt({ letta }: Stage): readonly { readonly key: string; readonly orders: readonly number[] }[] {
  return letta.requests.flatMap(({ body }) => {
    const sent = prompt.safeParse(body).data?.messages[0];
    if (sent === undefined) return [];
    const orders = ordersIn(sent.content).map(({ number }) => number);
    return orders.length === 0 ? [] : [{ key: sent.otid.replace(/-\d{1,2}$/, ''), orders }];
  });
}

function twice<T>(all: readonly T[]): readonly T[] {
  return [...new Set(all.filter((one, index) => all.indexOf(one) !== index))];
}
