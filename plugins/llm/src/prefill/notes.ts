import type { LlmRequest, ModelTool } from '@cinnabar/sdk';
import { callableName } from '../transcript/call-ids.js';

/** The line that asks a model to go on with a text. */
export const READ_ON = '<cmd>cat untitled.txt</cmd>';

/** The list of tools, one a line. Descriptions come from anywhere: they stay on their line and inside the list. */
export function toolList(tools: readonly ModelTool[]): string | undefined {
  if (tools.length === 0) return undefined;
  const lines = tools.map(({ name, description }) => `- ${callableName(name)}: ${bounded(oneLine(description))}`);
  return ['<tools>', ...lines, '</tools>'].join('\n');
}

/** The system prompt, and how the text is to be read and written. */
export function prefillSystem({ system = '', tools = [] }: LlmRequest, self: string): string {
  const form = [
    'The conversation is a text in which each message starts at the margin as `Name: text`.',
    'Indented lines go on with the message above them, whatever they look like.',
    `Write what ${JSON.stringify(self)} says next, and stop before anybody else speaks.`,
  ].join(' ');
  return [system, form, ...(tools.length === 0 ? [] : [toolNote(tools, self)])]
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

function toolNote(tools: readonly ModelTool[], self: string): string {
  return [
    `To use a tool, write \`${self}>[name]: {"argument": "value"}\` on a line of its own and stop.`,
    `Its result follows as \`${self}<[name]: result\`; never write that yourself. The arguments, as JSON Schema:`,
    // Indented: a name and a colon at the margin would read as a speaker.
    ...tools.map(({ name, inputSchema }) => `  ${callableName(name)}: ${spacelessJson(withoutDialect(inputSchema))}`),
  ].join('\n');
}

/** JSON on one line, whatever a schema's own texts say. */
function spacelessJson(schema: ModelTool['inputSchema']): string {
  return JSON.stringify(schema).replace(/[\u0085\u2028\u2029]/g, ' ');
}

function withoutDialect({ $schema: _dialect, ...schema }: ModelTool['inputSchema']): ModelTool['inputSchema'] {
  return schema;
}

/** Of what a tool says of itself. */
const LONGEST_DESCRIPTION = 1_000;

const bounded = (text: string) =>
  text.length <= LONGEST_DESCRIPTION ? text : `${text.slice(0, LONGEST_DESCRIPTION)}…`;

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/<(?=\/?tools>)/gi, '< ')
    .trim();
}
