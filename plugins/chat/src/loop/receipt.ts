import { formatCount, type LlmCompletion, type Turn, type WorkDetails } from '@cinnabar/sdk';
import type { EffectiveConfig } from '../config/schema.js';
import { missAfter } from '../context/caching/cache-state.js';
import type { BuiltContext, ContextFacts } from '../context/types.js';
import type { Invoked } from './tools/invoke.js';

interface Answered {
  readonly messageIds: readonly string[];
  /** The model's answers, one for each round. */
  readonly completions: readonly LlmCompletion[];
  readonly built: BuiltContext;
  readonly effective: EffectiveConfig;
  readonly tools: readonly Invoked[];
  readonly notes: readonly string[];
}

/** What `!why` says of a reply, beside what it cost. */
export function workDetailsOf(answered: Answered): WorkDetails {
  const { messageIds, completions, built, effective, tools, notes } = answered;
  const [first] = completions;
  return {
    messageIds,
    details: detailsOf(built.facts),
    missCause: first && missAfter(built.facts, first.usage),
    tools: tools.map(({ use, outcome }) => ({ name: use.name, outcome })),
    configured: Object.entries(effective.origin)
      .filter(([, origin]) => origin !== 'default')
      .map(([key, origin]) => `${key}, from ${origin}`),
    notes: [...notes, ...omittedIn(completions), ...effective.problems],
  };
}

function omittedIn(completions: readonly LlmCompletion[]): readonly string[] {
  const omitted = new Set(completions.flatMap((completion) => completion.omitted ?? []));
  return [...omitted].map((parameter) => `${parameter} was left out: the model refuses it`);
}

const REASONS: Readonly<Record<Turn['trigger'], string>> = {
  command: 'was asked by command',
  mention: 'was mentioned',
  reply: 'was replied to',
  dm: 'was written a direct message',
  name: 'was called by name',
  random: 'speaks up at random here',
  activate: 'was activated by an m command',
  continue: 'was asked to go on',
};

/** Why a turn is answered, in the first person. */
export function reasonFor({ trigger, earlier }: Turn): string {
  const more = earlier.length === 0 ? '' : `, and ${earlier.length} more had waited`;
  return `I ${REASONS[trigger].replace(/^speaks/, 'speak')}${more}`;
}

type KnownFacts = Pick<ContextFacts, 'messages' | 'hidden' | 'images' | 'estimatedTokens' | 'rolled' | 'plan'> &
  Partial<Pick<ContextFacts, 'tools' | 'toolTokens' | 'systemTokens' | 'windowRule'>>;

/** How the context came about, for `!why`. */
export function detailsOf(facts: KnownFacts): readonly string[] {
  const {
    messages,
    hidden,
    images,
    estimatedTokens,
    rolled,
    plan,
    tools = 0,
    toolTokens = 0,
    systemTokens,
    windowRule,
  } = facts;
  const read = [
    plural(messages, 'message'),
    ...(images === 0 ? [] : [plural(images, 'image')]),
    `about ${formatCount(estimatedTokens)} tokens`,
    ...(hidden === 0
      ? []
      : [`${hidden} not shown to me (dot messages, 🙃, 🫥, empty replies, what bots say about themselves)`]),
    ...(rolled ? ['the oldest were cut off'] : []),
  ];
  const before =
    systemTokens === undefined
      ? []
      : [
          `Of these tokens: about ${formatCount(systemTokens)} of instructions, about ${formatCount(toolTokens)} of ${plural(tools, 'tool')}`,
        ];
  return [
    `Read: ${read.join(', ')}`,
    `Cache: ${plan}`,
    ...before,
    ...(windowRule === undefined ? [] : [`Window: ${windowRule}`]),
  ];
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
