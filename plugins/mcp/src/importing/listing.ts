import { createHash } from 'node:crypto';
import { type Collection, type Risk, z } from '@cinnabar/sdk';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

const LONGEST_DESCRIPTION = 4_000;
/** Limits a schema: it is untrusted data, which must fill neither the memory nor a model's context. */
const MOST_SCHEMA_CHARS = 32_768;

const listedTool = z.object({
  name: z.string(),
  description: z.string(),
  risk: z.enum(['read', 'write', 'destructive']),
  inputSchema: z.record(z.string(), z.unknown()),
});
/** A server's tool, as far as the host needs it. */
export type ListedTool = z.output<typeof listedTool>;

/** The tools that servers offered when they last ran, so that they are available before the servers are started. */
export const listings = {
  scope: 'global',
  version: 1,
  // One process runs the servers, and all processes offer their tools.
  shared: true,
  schema: z.object({
    /** Hash of the settings at that time: with other settings it may be another server. */
    fingerprint: z.string(),
    tools: z.array(listedTool),
    /** Hashes of the tools that the owner has accepted, by name; including tools that are not listed at the moment. */
    pins: z.record(z.string(), z.string()).default({}),
    /** Changed and added tools: not offered until the owner has accepted them. */
    pending: z.array(listedTool).default([]),
  }),
} as const;
export type Listings = Collection<z.output<typeof listings.schema>, 'global'>;

interface Listed {
  readonly tools: readonly ListedTool[];
  /** Names of tools that cannot be offered, since their schema is too large. */
  readonly unusable: readonly string[];
}

export function listedTools(tools: readonly Tool[]): Listed {
  const usable = tools.filter(({ inputSchema }) => isUsable(inputSchema));
  return {
    tools: usable.map(({ name, title, description, inputSchema, annotations }) => ({
      name,
      description: (description ?? annotations?.title ?? title ?? name).slice(0, LONGEST_DESCRIPTION),
      risk: riskOf(annotations),
      inputSchema,
    })),
    unusable: tools.filter((tool) => !usable.includes(tool)).map(({ name }) => name),
  };
}

export function isUsable(schema: Readonly<Record<string, unknown>>): boolean {
  return JSON.stringify(schema).length <= MOST_SCHEMA_CHARS;
}

/** Splits listed tools into those that the owner has accepted, and changed or new ones, which have to be accepted first. */
export function withPins(
  pins: Readonly<Record<string, string>>,
  listed: readonly ListedTool[],
): { readonly offered: readonly ListedTool[]; readonly pending: readonly ListedTool[] } {
  const isPinned = (tool: ListedTool) => Object.hasOwn(pins, tool.name) && pins[tool.name] === hashOf(tool);
  return { offered: listed.filter(isPinned), pending: listed.filter((tool) => !isPinned(tool)) };
}

export function pinsOf(tools: readonly ListedTool[]): Readonly<Record<string, string>> {
  return Object.fromEntries(tools.map((tool) => [tool.name, hashOf(tool)]));
}

/** A hash of all data that a server gives about a tool. */
function hashOf({ name, description, risk, inputSchema }: ListedTool): string {
  return createHash('sha256')
    .update(JSON.stringify([name, description, risk, inputSchema]))
    .digest('hex');
}

/**
 * A server's hints about its own tool. Without hints, the tool counts as changing something; MCP's own default for `destructiveHint` applies to tools with
 * hints.
 */
function riskOf(annotations: Tool['annotations']): Risk {
  if (annotations?.readOnlyHint === true) return 'read';
  return annotations?.destructiveHint === true ? 'destructive' : 'write';
}

const LONGEST = 64;
const MARK_LENGTH = 6;

/**
 * Names for a server's tools in the host: `<server>_<tool>`, letters, digits and `_`, at most 64. Equal names and names that had to be cut get a suffix made
 * from the whole name.
 */
export function importedNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(tools.map((tool) => [tool, plainName(server, tool)]));
  const uses = (name: string) => [...plain.values()].filter((other) => other === name).length;
  return new Map(
    [...plain].map(([tool, name]) => [tool, uses(name) > 1 || name.length > LONGEST ? marked(name, tool) : name]),
  );
}

function plainName(server: string, tool: string): string {
  return `${server}_${tool}`.replace(/[^A-Za-z0-9_]/g, '_');
}

function marked(name: string, tool: string): string {
  const mark = createHash('sha256').update(tool).digest('hex').slice(0, MARK_LENGTH);
  return `${name.slice(0, LONGEST - MARK_LENGTH - 1)}_${mark}`;
}
