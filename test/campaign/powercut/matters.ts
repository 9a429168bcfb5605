import type { LocalChannel } from '@cinnabar/local-discord';
import type { Harness } from './harness.js';
import { createLetters } from './letters.js';

/** A kind of action of members and admins, with the bot's confirmations, which have to survive power cuts. */
export interface Matter {
  readonly name: string;
  /** Called once for each harness, before the first power cut. */
  prepare(): Promise<void>;
  /** Performs another action. Resolves when the bot has answered, or its power is cut. */
  act(): Promise<void>;
  /** @returns confirmations that do not hold any more; asks the bot, as a member would */
  check(): Promise<readonly string[]>;
  /** Number of confirmations. */
  readonly told: number;
}

/** Number of the latest entries that are checked, because the bot's lists are limited. */
const LOOKED_AT = 10;
const TASKS_LOOKED_AT = 6;

/** Entries that the bot has confirmed. An entry whose confirmation was interrupted may or may not exist. */
function createList(most = LOOKED_AT) {
  let told: string[] = [];
  let count = 0;
  return {
    tell(what: string) {
      told = [...told, what].slice(-most);
      count += 1;
    },
    missingIn: (text: string) => told.filter((what) => !text.includes(what)),
    get count() {
      return count;
    },
  };
}

const FIRST = ['amber', 'basil', 'cobalt', 'damask', 'ebony', 'fennel', 'garnet', 'henna', 'indigo', 'jasper'];
const SECOND = ['anvil', 'bridge', 'candle', 'drum', 'engine', 'fiddle', 'glove', 'harbour', 'island', 'jacket'];

/** A unique name. */
function named(n: number): string {
  return `${FIRST[n % 10]} ${SECOND[Math.floor(n / 10) % 10]} ${n}`;
}

export function createMatters(harness: Harness): readonly Matter[] {
  const place = (name: string) => harness.guild.createChannel({ name });
  return [
    settings(harness, place('office')),
    party(harness, place('tavern')),
    tasks(harness, place('workshop')),
    relay(harness, place('mailroom'), place('letters')),
    goals(harness, place('study')),
    memories(harness, place('parlour')),
  ];
}

function settings(harness: Harness, office: LocalChannel): Matter {
  let values = new Set(['200']);
  let next = 100;
  let told = 0;
  return {
    name: 'settings',
    prepare: async () => undefined,
    async act() {
      const value = String(next++);
      // During the change, either value may be stored.
      values = new Set([...values, value]);
      const answer = await harness.ask(office, `!set tasks maxOpenInGuild ${value}`);
      if (answer === undefined) return;
      if (!answer.includes(`\`${value}\``)) throw new Error(answer);
      values = new Set([value]);
      told += 1;
    },
    async check() {
      const answer = await harness.ask(office, '!set tasks maxOpenInGuild');
      if (answer === undefined) return [];
      const found = /= `(\d+)`/.exec(answer)?.[1] ?? answer;
      const holds = values.has(found);
      const expected = [...values].join(' or ');
      values = new Set([found]);
      return holds ? [] : [`maxOpenInGuild is ${found}, but should be ${expected}`];
    },
    get told() {
      return told;
    },
  };
}

/** Confirms or cancels a card, or ignores it; the card's final text has to agree with the roster and the ledger. */
function party(harness: Harness, tavern: LocalChannel): Matter {
  const members = createList();
  const cancelled = createList();
  const shown = createList();
  let next = 0;
  const saying = (words: string) => harness.said(tavern).find(({ content }) => content.includes(words));
  return {
    name: 'party and confirmations',
    prepare: async () => undefined,
    async act() {
      const name = named(next++);
      harness.you.say(tavern, `!recruit ${name}`);
      const card = await harness.until(() => {
        const found = saying(`add ${name} to your party`);
        const isReady = [...(found?.reactions.values() ?? [])].length >= 2;
        return isReady ? found : undefined;
      }, `the card of ${name}`);
      if (card === undefined) return;
      shown.tell(`${name}=`);
      if (!harness.isAlive() || harness.chance.below(4) === 0) return;
      const isGood = harness.chance.below(3) > 0;
      harness.you.react(card, isGood ? '👍' : '👎');
      const words = isGood ? `${name} has been added` : `Cancelled adding ${name}`;
      if ((await harness.until(() => saying(words), `the decision on ${name}`)) === undefined) return;
      if (isGood) {
        members.tell(name);
        shown.tell(`${name}=done`);
      } else {
        cancelled.tell(name);
        shown.tell(`${name}=denied`);
      }
    },
    async check() {
      const roster = await harness.ask(tavern, '!roster', /party/);
      const calls = await harness.ask(tavern, '!calls', /^Calls:/);
      if (roster === undefined || calls === undefined) return [];
      const here = cancelled.missingIn(roster);
      return [
        ...members.missingIn(roster).map((name) => `${name} is not in the party: ${roster}`),
        ...shown.missingIn(calls).map((row) => `the ledger does not say ${row}: ${calls}`),
        ...(here.length < Math.min(cancelled.count, LOOKED_AT) ? ['somebody is in the party although cancelled'] : []),
      ];
    },
    get told() {
      return members.count + cancelled.count + shown.count;
    },
  };
}

function tasks(harness: Harness, toolHarness: LocalChannel): Matter {
  // A longer list of tasks is an answer in two messages, of which \`ask\` reads the first.
  const begun = createList(TASKS_LOOKED_AT);
  const ended = createList(TASKS_LOOKED_AT);
  let next = 0;
  return {
    name: 'tasks',
    async prepare() {
      await harness.ask(toolHarness, '!set tasks stepDelayMs 0');
    },
    async act() {
      const what = `Note the ${named(next++)}`;
      harness.you.say(toolHarness, `!task ${what}`);
      const saying = (words: RegExp) =>
        harness.said(toolHarness).find(({ content }) => content.includes(what) && words.test(content));
      const label = await harness.until(() => /Task (\w+)/.exec(saying(/Task \w+/)?.content ?? '')?.[1], what);
      if (label === undefined) return;
      begun.tell(what);
      const end = () =>
        harness.said(toolHarness).find(({ content }) => content.includes('Task complete') && content.includes(label));
      if ((await harness.until(end, `the end of ${what}`)) !== undefined) ended.tell(`${label}\` ✅`);
    },
    async check() {
      const listed = await harness.ask(toolHarness, '!tasks', /^`|no tasks/);
      if (listed === undefined) return [];
      return [...begun.missingIn(listed), ...ended.missingIn(listed)].map((what) => `no task “${what}”: ${listed}`);
    },
    get told() {
      return begun.count + ended.count;
    },
  };
}

/** Letters wait for a paused agent; the bot reports their number on request. */
function relay(harness: Harness, mailroom: LocalChannel, letters: LocalChannel): Matter {
  const count = createLetters();
  let next = 1;
  let told = 0;
  const waiting = async (): Promise<number | undefined> => {
    const answer = await harness.ask(mailroom, '!relay queue');
    return answer === undefined ? undefined : Number(/(\d+) waiting/.exec(answer)?.[1] ?? 0);
  };
  return {
    name: 'relay',
    async prepare() {
      const { id } = harness.letta.addAgent({ name: 'aurora' });
      await harness.ask(letters, `!relay agent ${id} aurora`);
      await harness.ask(mailroom, '!relay enable');
      await harness.ask(mailroom, '!relay pause');
      await harness.ask(letters, '!ai use relay --here');
    },
    async act() {
      if (harness.chance.below(12) === 0) {
        count.clearing();
        const answer = await harness.ask(mailroom, '!relay queue clear');
        if (answer === undefined) return;
        count.cleared(answer);
        told += 1;
        return;
      }
      for (let letter = 1 + harness.chance.below(4); letter > 0; letter -= 1) {
        count.said();
        harness.you.say(letters, `${harness.application.user} letter ${next++}`);
      }
      const found = await waiting();
      if (found === undefined) return;
      count.counted(found);
      told += 1;
    },
    async check() {
      const found = await waiting();
      return found === undefined ? [] : count.check(found);
    },
    get told() {
      return told;
    },
  };
}

function goals(harness: Harness, study: LocalChannel): Matter {
  const list = createList();
  let next = 0;
  return {
    name: 'goals of a persona',
    async prepare() {
      await harness.ask(study, '!persona create Judy A braindance technician.');
    },
    async act() {
      const goal = `Find the ${named(next++)}`;
      const answer = await harness.ask(study, `!persona goals add ${goal}`);
      if (answer?.includes(goal)) list.tell(goal);
    },
    async check() {
      const answer = await harness.ask(study, '!persona goals');
      if (answer === undefined) return [];
      return list.missingIn(answer).map((goal) => `the goal “${goal}” is gone: ${answer}`);
    },
    get told() {
      return list.count;
    },
  };
}

function memories(harness: Harness, parlour: LocalChannel): Matter {
  const list = createList();
  let next = 0;
  return {
    name: 'memories of a persona',
    async prepare() {
      await harness.ask(parlour, '!ai use persona --here');
    },
    async act() {
      const fact = `The ${named(next++)} is lost`;
      const answer = await harness.ask(parlour, `!ai Please keep in mind: ${fact}.`);
      if (answer === undefined) return;
      if (answer !== `Remembered: ${fact}.`) throw new Error(answer);
      list.tell(fact);
    },
    async check() {
      const answer = await harness.ask(parlour, '!persona memories all');
      if (answer === undefined) return [];
      return list.missingIn(answer).map((fact) => `forgotten: ${fact}: ${answer}`);
    },
    get told() {
      return list.count;
    },
  };
}
