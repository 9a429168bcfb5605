import type { Dice } from '../confirm/dice.js';
import { type Harness, type Place, PREFIX } from './harness.js';
import type { BotName, Kind } from './requests.js';
import type { Story, Switch } from './story.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export interface Scene {
  readonly story: Story;
  readonly harness: Harness;
  readonly dice: Dice;
}

/** The channels in which members write to each bot. */
const ROOMS: Readonly<Record<BotName, readonly [Place, ...Place[]]>> = {
  Cinnabar: ['general', 'general', 'prefill', 'lounge'],
  Opal: ['general', 'lounge'],
};
const TALK = [
  'good morning',
  'who has the map?',
  'lol',
  'see you at the bridge',
  'the rain does not stop',
  'nice one',
] as const;

/** The admin sets up an agent, a persona, and a channel in prefill mode. */
export function opening({ story, harness }: Scene): void {
  const { admin, places, agentId } = harness;
  const lines: readonly (readonly [Place, string])[] = [
    ['office', '!set chat receipts true'],
    ['office', '?set chat receipts true'],
    ['tavern', '!persona create Judy A braindance technician with green hair who trusts few people.'],
    ['tavern', '!ai use persona --here'],
    ['agents', `!relay agent ${agentId} aurora`],
    ['agents', '!relay grant everywhere aurora'],
    ['agents', '!relay enable'],
    ['agents', '!ai use relay --here'],
    ['agents', '!relay setup aurora'],
  ];
  for (const [index, [where, line]] of lines.entries()) {
    const bot = line.startsWith(PREFIX.Opal) ? 'Opal' : 'Cinnabar';
    if (!harness.bots[bot].isUp()) continue;
    story.ask(story.begins + index * 10 * SECOND, { kind: 'command', where, who: admin, line, bot });
  }
  story.at(story.begins + lines.length * 10 * SECOND, () =>
    admin.pin(admin.say(places.prefill, '.config\nmode: prefill')),
  );
}

/** Every member asks both bots, in shared channels, and requests reasons and costs. */
export function morning({ story, harness, dice }: Scene): void {
  for (let left = 18; left > 0; left -= 1) {
    const at = story.between('08:00', '08:40');
    const bot: BotName = dice.chance(0.4) ? 'Opal' : 'Cinnabar';
    const where = dice.pick(ROOMS[bot]);
    story.ask(at, { kind: 'question', bot, where });
    story.chat(at + dice.between(-30, 30) * SECOND, where, dice.pick(TALK));
  }
  for (const where of ['general', 'lounge', 'prefill'] as const)
    bookkeeping({ story, harness, dice }, where, '08:10', '08:50');
  for (let left = 4; left > 0; left -= 1)
    story.ask(story.between('08:00', '08:40'), { kind: 'persona', where: 'tavern' });
  for (let left = 3; left > 0; left -= 1)
    story.ask(story.between('08:00', '08:40'), { kind: 'agent', where: 'agents' });
}

/** Commands whose answers are not part of a conversation. */
function bookkeeping({ story, harness, dice }: Scene, where: Place, from: string, to: string): void {
  const lines = ['why', 'cost', 'help', 'set chat', 'ai status', 'cost channel'] as const;
  for (const line of lines) {
    const bot: BotName = where !== 'prefill' && dice.chance(0.4) ? 'Opal' : 'Cinnabar';
    const latest = () =>
      harness.places[where].messages.findLast(
        ({ author, content }) => author.id === harness.bots[bot].user.id && content.includes('re zq'),
      );
    const who = line === 'set chat' ? harness.admin : dice.pick(harness.speakers);
    story.ask(story.between(from, to), {
      kind: 'command',
      bot,
      where,
      who,
      line: `${PREFIX[bot]}${line}`,
      ...(line === 'why' ? { replyTo: latest } : {}),
    });
  }
}

/** Cards, tasks, and an outage of a model. */
export function noon(scene: Scene): void {
  const { story, dice } = scene;
  for (let left = 8; left > 0; left -= 1) {
    const bot: BotName = dice.chance(0.4) ? 'Opal' : 'Cinnabar';
    story.ask(story.between('12:00', '12:25'), { kind: 'notice', bot, where: dice.pick(['general', 'lounge']) });
  }
  for (let left = 3; left > 0; left -= 1)
    story.ask(story.between('12:00', '12:25'), { kind: 'task', where: dice.pick(['workshop', 'general']) });
  for (const bot of ['Cinnabar', 'Opal'] as const)
    story.outage(bot, story.between('12:05', '12:20'), dice.between(30, 600) * SECOND);
  for (let left = 8; left > 0; left -= 1) {
    const bot: BotName = dice.chance(0.4) ? 'Opal' : 'Cinnabar';
    const where = dice.pick(ROOMS[bot]);
    story.ask(story.between('12:05', '12:40'), { kind: 'question', bot, where });
  }
  for (let left = 3; left > 0; left -= 1)
    story.ask(story.between('12:05', '12:40'), { kind: 'persona', where: 'tavern' });
  bookkeeping(scene, 'general', '12:10', '12:45');
}

/** The admin disables plugins while they are in use, and enables them again. */
export function evening({ story, dice }: Scene): void {
  const switches: readonly Omit<Switch, 'forMs'>[] = [
    { off: '!plugin disable board', on: '!plugin enable board', kinds: ['notice', 'task'], forbids: 'notices' },
    {
      off: '!tool policy post_notice deny',
      on: '!tool policy post_notice default',
      kinds: ['notice', 'task'],
      forbids: 'notices',
    },
    { off: '!plugin disable chat', on: '!plugin enable chat', kinds: ['question', 'notice'], forbids: 'answers' },
    { off: '!relay disable', on: '!relay enable', kinds: ['agent'], forbids: 'answers' },
    { off: '!plugin disable relay', on: '!plugin enable relay', kinds: ['agent'], forbids: 'answers' },
    { off: '!plugin disable persona', on: '!plugin enable persona', kinds: ['persona'], forbids: 'answers' },
    { off: '!plugin disable tasks', on: '!plugin enable tasks', kinds: ['task'], forbids: 'answers' },
  ];
  const places: Readonly<Partial<Record<Kind, Place>>> = { agent: 'agents', persona: 'tavern', task: 'workshop' };
  for (const [index, one] of switches.toSorted(() => dice.next() - 0.5).entries()) {
    const at = story.time('18:00') + index * 15 * MINUTE + dice.between(0, 120) * SECOND;
    const forMs = dice.between(60, 480) * SECOND;
    story.switch(at, { ...one, forMs });
    // Requests before, during and after the time in which it is disabled.
    for (const offset of [
      -dice.between(1, 20) * SECOND,
      dice.between(5, 50) * SECOND,
      forMs + dice.between(20, 90) * SECOND,
    ]) {
      const kind = dice.pick(one.kinds);
      story.ask(at + offset, { kind, where: places[kind] ?? 'general', agentTakesMs: dice.between(10, 40) * SECOND });
    }
  }
}

/** Tasks that wait for their members until the morning; and a crash while a card waits, a task runs and an agent works. */
export function night({ story, harness, dice }: Scene): void {
  const [first, second, third, ...sleepers] = harness.speakers;
  const tillMorning = () => dice.between(story.time('32:05'), story.time('32:40')) - story.time('23:00');
  for (const who of sleepers.slice(0, 3)) {
    story.ask(story.between('22:30', '22:50'), {
      kind: 'night task',
      where: 'workshop',
      who,
      decision: '👍',
      decideAfterMs: tillMorning(),
    });
  }
  for (const who of sleepers.slice(3, 5))
    story.ask(story.between('22:30', '22:50'), {
      kind: 'asking task',
      where: 'workshop',
      who,
      decideAfterMs: tillMorning(),
    });
  const at = story.between('23:10', '23:20');
  story.ask(at, {
    kind: 'notice',
    where: 'general',
    who: first,
    decision: dice.pick(['👍', 'nothing']),
    decideAfterMs: 50 * SECOND,
  });
  if (second !== undefined)
    story.ask(at + 2 * SECOND, { kind: 'agent', where: 'agents', who: second, agentTakesMs: 45 * SECOND });
  if (third !== undefined)
    story.ask(at + 4 * SECOND, {
      kind: 'task',
      where: 'workshop',
      who: third,
      decision: '👍',
      decideAfterMs: 50 * SECOND,
    });
  const isAllUnderWay = () => {
    const { requests, agent, sightings } = harness;
    const asked = requests.all.filter((one) => one.at >= at);
    const says = (code: string | undefined, pattern: RegExp) =>
      code !== undefined && sightings.said(({ text }) => text.includes(code) && pattern.test(text)).length > 0;
    const codeOf = (kind: Kind) => asked.find((one) => one.kind === kind)?.code;
    return agent.out().size > 0 && says(codeOf('notice'), /Confirmation Required/) && says(codeOf('task'), /begun/);
  };
  story.crash('Cinnabar', at + dice.between(6, 15) * SECOND, dice.between(15, 300) * SECOND, isAllUnderWay);
  if (harness.bots.Opal.isUp() && dice.chance(0.5))
    story.crash('Opal', story.between('23:10', '23:30'), dice.between(15, 300) * SECOND);
}

/** Members who were absent see the results. */
export function nextMorning({ story, dice }: Scene): void {
  for (let left = 6; left > 0; left -= 1) {
    const bot: BotName = dice.chance(0.4) ? 'Opal' : 'Cinnabar';
    story.ask(story.between('32:00', '32:30'), { kind: 'question', bot, where: 'general' });
  }
  story.ask(story.between('32:00', '32:30'), { kind: 'agent', where: 'agents' });
  story.ask(story.between('32:00', '32:30'), { kind: 'persona', where: 'tavern' });
  story.ask(story.between('32:00', '32:30'), { kind: 'notice', where: 'lounge', decision: '👍' });
}
