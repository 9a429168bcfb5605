import type { ModelTool } from '@cinnabar/sdk';
import type { Match } from './match.js';
import { readable } from './template.js';

const MAX_EXAMPLES = 12;
const INTRODUCTION =
  'I am the offline model: no language model is connected, so I understand only a few fixed requests.';

/** What it can do, when it has understood nothing. */
export function explainYourself(tools: readonly ModelTool[]): string {
  const examples = tools.flatMap((tool) => (tool.examples ?? []).slice(0, 1).map(readable));
  if (examples.length === 0) return `${INTRODUCTION} At the moment there is nothing that I can do for you here.`;
  const left = examples.length - MAX_EXAMPLES;
  return [
    `${INTRODUCTION} You can say, with your own words in place of the capitals:`,
    ...examples.slice(0, MAX_EXAMPLES).map((example) => `- ${example}`),
    ...(left > 0 ? [`… and ${left} more.`] : []),
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
