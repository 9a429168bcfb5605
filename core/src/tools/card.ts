import type { Actor, CallCard, ToolDefinition, ToolInfo } from '@cinnabar/sdk';
import type { Arguments } from './arguments.js';
import { shownArguments } from './audit.js';
import { labelOf, words } from './registry.js';

/**
 * How a call is shown, in the tool's own words where it has them. A tool's words never hide an argument: one counts as
 * said only when the sentence contains its value.
 */
export async function renderCard(
  { name, plugin, inputSchema }: ToolInfo,
  { present }: ToolDefinition,
  given: Arguments,
  actor: Actor,
  redact: (text: string) => string,
): Promise<CallCard> {
  const shown = shownArguments(given, redact);
  const described = await attempt(() => present?.describe?.(shown, { actor }));
  const input = { ...described?.assumed, ...shown };
  const own = described?.sentence ?? (await attempt(() => present?.sentence?.(shown)));
  const action = described?.action ?? present?.action ?? capitalised(words(name).join(' '));
  const inSentence: readonly string[] = described?.said ?? present?.said ?? [];
  const said = (argument: string) => own !== undefined && inSentence.includes(argument) && shows(own, input[argument]);
  return {
    sentence: own ?? `I'll use "${words(name).join(' ')}"`,
    action,
    terminal: present?.terminal ?? {
      program: plugin.toUpperCase(),
      operation: name.toUpperCase(),
      record: 'ARGUMENTS',
    },
    fields: inDeclaredOrder(inputSchema, input).map((argument) => ({
      name: argument,
      label: present?.labels?.[argument] ?? labelOf(argument),
      value: input[argument],
      said: said(argument),
    })),
    arguments: input,
    cancelled:
      described?.cancelled ??
      (await attempt(() => present?.cancelled?.(shown))) ??
      `Cancelled: ${words(name).join(' ')}.`,
  };
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function shows(sentence: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  return value !== '' && sentence.includes(String(value));
}

function inDeclaredOrder({ properties }: ToolInfo['inputSchema'], input: Arguments): readonly string[] {
  const declared = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [...new Set([...declared, ...Object.keys(input)])].filter((name) => Object.hasOwn(input, name));
}

/** A tool's own wording that throws is left out: a card must come about, with every argument in it. */
async function attempt<T>(render: () => T | Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await render();
  } catch {
    return undefined;
  }
}
