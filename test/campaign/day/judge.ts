import type { LocalUser } from '@cinnabar/local-discord';
import { bookkeepingIn, type Told } from './bookkeeping.js';
import type { Harness } from './harness.js';
import { type Asked, answeredIn, BOTS, codesIn, expectedOf } from './requests.js';
import { isSeenBy, nameOf, type Sighting } from './sightings.js';
import type { Disturbance } from './story.js';

export interface Verdict {
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

/** The kinds of violations. */
const FAULTS = [
  'silent failures',
  'doubled effects',
  'lost effects',
  'acts while switched off',
  'bookkeeping in requests',
] as const;
type Fault = { readonly fault: (typeof FAULTS)[number]; readonly what: string };

/** The events about a request that its member could see. */
interface Seen {
  readonly asked: Asked;
  /** Sightings about the request, oldest first. */
  readonly about: readonly Sighting[];
  /** Disturbances that excuse a missing answer, but not silence. */
  readonly excuses: readonly Disturbance[];
}

/** Compares what each member saw with what their request should cause, using the messages on the local Discord and the requests to models. */
export function judge(harness: Harness, disturbances: readonly Disturbance[]): Verdict {
  const { requests, sightings, letta, bots } = harness;
  const seen = requests.all.map((asked): Seen => {
    const { wordWithinMs, answerWithinMs = wordWithinMs } = expectedOf(asked.kind);
    const until = Math.max(asked.at + answerWithinMs, (asked.decidedAt ?? 0) + wordWithinMs);
    return {
      asked,
      about: sightings.all.filter((sighting) => isAbout(sighting, asked, bots[asked.bot].user)),
      excuses: disturbances.filter(
        ({ bot, from, to, kinds }) =>
          bot === asked.bot && from <= until && to >= asked.at && kinds?.has(asked.kind) !== false,
      ),
    };
  });
  const told: readonly Told[] = [
    ...BOTS.flatMap((bot) =>
      bots[bot].requests.map(({ body }, index) => ({ whom: `${bot}'s model, request ${index}`, body })),
    ),
    ...letta.runs.map(({ prompt }, index) => ({ whom: `the agent, prompt ${index}`, body: prompt ?? '' })),
  ];
  const faults: readonly Fault[] = [
    ...seen.flatMap(silence),
    ...seen.flatMap((one) => wrongAnswers(one, harness)),
    ...seen.flatMap((one) => wrongNotices(one, harness)),
    ...disturbances.flatMap((one) => actsWhileOff(one, harness)),
    ...bookkeepingIn(told, sightings.all).map((what): Fault => ({ fault: 'bookkeeping in requests', what })),
  ];
  const kinds = [...new Set(requests.all.map(({ kind }) => kind))].toSorted();
  return {
    counts: {
      ...Object.fromEntries(
        kinds.map((kind) => [`asked: ${kind}`, requests.all.filter((one) => one.kind === kind).length]),
      ),
      answered: seen.filter((one) => answersOf(one).size > 0).length,
      'notices posted': seen.filter((one) => noticesOf(one.asked, harness) > 0).length,
      'messages seen': sightings.all.filter(({ what }) => what === 'says').length,
      'requests to models': told.length,
      ...Object.fromEntries(
        (['crash', 'outage', 'off'] as const).map((kind) => [
          `disturbances: ${kind}`,
          disturbances.filter(({ why }) => why === kind).length,
        ]),
      ),
      ...Object.fromEntries(FAULTS.map((name) => [name, faults.filter(({ fault }) => fault === name).length])),
    },
    violations: faults.map(({ fault, what }) => `${fault}: ${what}`),
  };
}

/** No reaction within the limit. The limit is suspended while the bot is offline, which members can see. */
function silence(seen: Seen): readonly Fault[] {
  const { asked, about, excuses } = seen;
  const { wordWithinMs } = expectedOf(asked.kind);
  const crashes = excuses.filter(({ why, from }) => why === 'crash' && from <= asked.at + wordWithinMs);
  const deadline = Math.max(asked.at, ...crashes.map(({ to }) => to)) + wordWithinMs;
  const [word] = about;
  if (word !== undefined && word.at <= deadline) return [];
  const what = word === undefined ? 'nothing' : `the first word after ${seconds(word.at - asked.at)}`;
  return [{ fault: 'silent failures', what: `${describe(seen)}: ${what}` }];
}

function wrongAnswers(seen: Seen, { clock }: Harness): readonly Fault[] {
  const { asked, about, excuses } = seen;
  const { answerWithinMs } = expectedOf(asked.kind);
  const times = answersOf(seen).size;
  if (times > 1) return [{ fault: 'doubled effects', what: `${describe(seen)}: answered ${times} times` }];
  // A task whose member never decides keeps waiting.
  const isWaiting = expectedOf(asked.kind).notice === true && asked.decision === 'nothing';
  const isDue = answerWithinMs !== undefined && clock.now() > asked.at + answerWithinMs && !isWaiting;
  if (times === 1 || !isDue || excuses.length > 0) return [];
  return [{ fault: 'lost effects', what: `${describe(seen)}: no answer, but ${latest(about)}` }];
}

function wrongNotices(seen: Seen, harness: Harness): readonly Fault[] {
  const { asked, about, excuses } = seen;
  if (expectedOf(asked.kind).notice === undefined) return [];
  const posted = noticesOf(asked, harness);
  const isApproved = asked.decision === '👍' && asked.decidedAt !== undefined;
  const isTold = about.some(({ text }) => text.includes(`Posted ${asked.code}`));
  const found: readonly (readonly [boolean, Fault['fault'], string])[] = [
    [posted > 1, 'doubled effects', `${posted} notices`],
    [posted > 0 && !isApproved, 'doubled effects', 'a notice that was not approved'],
    [posted === 0 && isTold, 'lost effects', 'it is said to be posted, and is not'],
    [posted === 0 && !isTold && isApproved && excuses.length === 0, 'lost effects', `no notice, but ${latest(about)}`],
  ];
  return found.flatMap(([holds, fault, what]) => (holds ? [{ fault, what: `${describe(seen)}: ${what}` }] : []));
}

/** Answers and effects after the admin has read that the plugin is disabled. */
function actsWhileOff(
  { knownSince, to, kinds, forbids }: Disturbance,
  { sightings, requests }: Harness,
): readonly Fault[] {
  if (knownSince === undefined || forbids === undefined) return [];
  const during = sightings.said(({ at, what }) => what === 'says' && at > knownSince && at < to);
  return during.flatMap(({ at, text, message }) => {
    const codes = forbids === 'answers' ? answeredIn(text) : text.startsWith('📌 zq') ? codesIn(text) : [];
    const isOff = codes.some((code) => {
      const asked = requests.get(code);
      return asked?.bot === 'Cinnabar' && kinds?.has(asked.kind);
    });
    const what = `"${text}" in ${nameOf(message.channel)} ${seconds(at - knownSince)} after it was off`;
    return isOff ? [{ fault: 'acts while switched off', what }] : [];
  });
}

/** Whether a message is about a request of the member. */
function isAbout(sighting: Sighting, asked: Asked, bot: LocalUser): boolean {
  const { message, text, what, isBot, at } = sighting;
  const { code, kind, who, where, message: question } = asked;
  if (!isBot || what === 'deletes' || at < asked.at || !isSeenBy(sighting, who)) return false;
  if (what === 'reacts') return message === question;
  if (message.author.id !== bot.id && message.applicationId !== bot.id) return false;
  const isForThem = message.mentions.users.includes(who) || message.visibleTo === who || message.channel.isDm;
  const isAnswer = message.replyTo === question || codesIn(text).includes(code);
  return isAnswer || (message.channel === where && (isForThem || kind === 'command'));
}

const answersOf = ({ about, asked }: Seen) =>
  new Set(about.filter(({ text }) => answeredIn(text).includes(asked.code)).map(({ message }) => message));

const noticesOf = ({ code, bot }: Asked, { sightings, places, bots }: Harness) =>
  sightings.said(
    ({ what, message, text }) =>
      what === 'says' &&
      message.channel === places.board &&
      message.author.id === bots[bot].user.id &&
      text === `📌 ${code}`,
  ).length;

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
const latest = (about: readonly Sighting[]) => JSON.stringify(about.at(-1)?.text.slice(0, 200) ?? 'nothing');

function describe({ asked, excuses }: Seen): string {
  const { code, kind, bot, who, where, message, at } = asked;
  const time = new Date(at).toISOString().slice(11, 19);
  const disturbed = excuses.length === 0 ? '' : `, disturbed by ${excuses.map(({ why }) => why).join(', ')}`;
  const words = JSON.stringify(message.content.slice(0, 60));
  return `${time} ${who.name} asked ${bot} in ${nameOf(where)} (${kind} ${code}${disturbed}) ${words}`;
}
