import { formatCount } from '@cinnabar/sdk';
import type { ContextFacts } from '../context/types.js';

type KnownFacts = Pick<ContextFacts, 'messages' | 'hidden' | 'images' | 'estimatedTokens' | 'rolled' | 'plan'>;

/** How the context came about, for `!why`. */
export function detailsOf(facts: KnownFacts): readonly string[] {
  const { messages, hidden, images, estimatedTokens, rolled, plan } = facts;
  const read = [
    plural(messages, 'message'),
    ...(images === 0 ? [] : [plural(images, 'image')]),
    `about ${formatCount(estimatedTokens)} tokens`,
    ...(hidden === 0 ? [] : [`${hidden} not shown to me (dot messages, 🙃, 🫥, empty replies)`]),
    ...(rolled ? ['the oldest were cut off'] : []),
  ];
  return [`Read: ${read.join(', ')}`, `Cache: ${plan}`];
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
