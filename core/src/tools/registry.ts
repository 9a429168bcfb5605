import { CinnabarError, type Disposer, type ToolDefinition, type ToolInfo, z } from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';

/** A tool as one run of its plugin registered it. */
export interface RegisteredTool {
  readonly owner: Owner;
  readonly definition: ToolDefinition;
  readonly info: ToolInfo;
}

export interface ToolRegistry {
  /** @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN, CINNABAR_PLUGIN_INVALID, CINNABAR_SCOPE_CLOSED */
  add(owner: Owner, definition: ToolDefinition): Disposer;
  /** Never a tool whose plugin is stopping. */
  get(name: string): RegisteredTool | undefined;
  all(): readonly RegisteredTool[];
}

export function createToolRegistry(): ToolRegistry {
  const tools = new Map<string, RegisteredTool>();
  const isLive = ({ owner }: RegisteredTool) => !owner.scope.signal.aborted;

  return {
    add(owner, definition) {
      const { name } = definition;
      checkToolName(name);
      const taken = tools.get(name);
      // Which of the two is there must not depend on which came first.
      if (taken?.definition.yields === true && definition.yields !== true) tools.delete(name);
      else if (taken !== undefined) {
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'tool', name, plugin: taken.owner.id });
      }
      const tool = { owner, definition, info: describe(owner, definition) };
      const dispose = owner.scope.add(`tool ${name}`, () => {
        if (tools.get(name) === tool) tools.delete(name);
      });
      tools.set(name, tool);
      return dispose;
    },
    get(name) {
      const tool = tools.get(name);
      return tool !== undefined && isLive(tool) ? tool : undefined;
    },
    all: () => [...tools.values()].filter(isLive),
  };
}

function describe(owner: Owner, definition: ToolDefinition): ToolInfo {
  return Object.freeze({
    name: definition.name,
    plugin: owner.id,
    description: definition.description,
    risk: definition.risk,
    access: definition.access ?? {},
    examples: definition.examples ?? [],
    idempotent: definition.idempotent ?? definition.risk === 'read',
    inputSchema: inputSchemaOf(owner, definition),
  });
}

/** An argument with a default is not required of a model, so the schema is that of what goes in. */
function inputSchemaOf(owner: Owner, { name, input, inputSchema }: ToolDefinition): ToolInfo['inputSchema'] {
  try {
    // What comes out runs, is hashed, stored and shown, so it too must be plain JSON: no transforms, dates or instances.
    z.toJSONSchema(input, { io: 'output' });
    // A copy: what a tool brings is its own to change.
    if (inputSchema !== undefined) return Object.freeze(structuredClone(inputSchema));
    return Object.freeze({ ...z.toJSONSchema(input, { target: 'draft-2020-12', io: 'input' }) });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const detail = `the input of its tool "${name}" must be plain JSON: ${why}`;
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: owner.id, detail }, { cause: error });
  }
}

/** What every provider takes as a function name. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** @throws CINNABAR_NAME_INVALID */
export function checkToolName(name: string): void {
  if (TOOL_NAME.test(name)) return;
  const detail = 'letters, digits and _, starting with a letter, at most 64';
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'tool', name, detail });
}

/** `gear_preferences` and `lootDescription` as labels: "Gear Preferences", "Loot Description". */
export function labelOf(name: string): string {
  return words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}

/** `add_party_character` as words: "add party character". */
export function words(name: string): readonly string[] {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .split(/[\s_-]+/)
    .filter((word) => word !== '');
}
