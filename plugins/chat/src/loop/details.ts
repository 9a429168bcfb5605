import { formatCount } from '@cinnabar/sdk';
import type { ContextFacts } from '../context/types.js';

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
