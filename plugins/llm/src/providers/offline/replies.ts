import type { ModelTool } from '@cinnabar/sdk';
import type { Doubt, Match } from './match.js';
import { needsId, readable } from './template.js';

const MAX_EXAMPLES = 6;
const INTRODUCTION = 'I am the offline model: no language model is connected, so I understand only a few sentences';

/** What it can do, when it has understood nothing. What a person cannot say without knowing an id is left out, however many tools there are. */
export function explainYourself(tools: readonly ModelTool[]): string {
  const examples = tools.flatMap((tool) =>
    (tool.examples ?? [])
      .filter((example) => !needsId(example))
      .slice(0, 1)
      .map(readable),
  );
  if (examples.length === 0)
    return `${INTRODUCTION}, and none that I could act on here. Commands work as ever: see \`help\`.`;
  return [
    `${INTRODUCTION}, with your own words in place of the capitals:`,
    ...examples.slice(0, MAX_EXAMPLES).map((example) => `- ${example}`),
    'Commands work as ever: see `help`.',
  ].join('\n');
}

/** Why it did nothing, where a sentence nearly fits. */
export function explainDoubt({ example, slot, text }: Doubt): string {
  const name = readable(`{${slot}}`);
  return [
    `I did not understand that for certain, so I did nothing: is “${text}” one ${name}?`,
    `I know “${readable(example)}”. Say one thing at a time; what belongs together goes in quotes.`,
  ].join('\n');
}

/** Which one was meant, when several tools fit equally well. */
export function askWhich(matches: readonly Match[]): string {
  const choices = matches.map(({ tool, example }) => `- ${readable(example)} (${shorten(tool.description)})`);
  return ['That could mean more than one thing. Please say it so that only one of these fits:', ...choices].join('\n');
}

function shorten(description: string): string {
  const sentence = description.split(/(?<=[.!?])\s/)[0] ?? description;
  return sentence.replace(/[.!?]$/, '');
}
