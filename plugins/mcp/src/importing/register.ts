import type { Clock, Disposer, Logger, Registrar, Risk } from '@cinnabar/sdk';
import type { Connection } from '../servers/connection.js';
import type { ServerSettings } from '../settings.js';
import { callTool } from './call.js';
import { type CheckValue, inputFor } from './input.js';
import type { ListedTool } from './listing.js';
import { importedNames } from './names.js';
import type { ImportedResult } from './result.js';

interface Parts {
  readonly server: string;
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tool: Registrar['tool'];
  readonly check: CheckValue;
  readonly need: () => Promise<Connection>;
}

interface Registered {
  readonly listed: ListedTool;
  readonly dispose: Disposer;
}

/** Keeps one server's tools registered in the host as the server lists them. */
export interface Imported {
  /** Registers what is new, takes back what is gone, and leaves alone what is the same. */
  update(tools: readonly ListedTool[]): Promise<void>;
  /** The host's name of each tool, with what it is. */
  list(): ReadonlyMap<string, ListedTool>;
}

export function createImported(parts: Parts): Imported {
  const { server, log } = parts;
  const registered = new Map<string, Registered>();

  const add = (name: string, listed: ListedTool) => {
    try {
      registered.set(name, { listed, dispose: register(name, listed, parts) });
    } catch (error) {
      log.warn('a tool of an MCP server cannot be offered', { server, tool: listed.name, error });
    }
  };

  return {
    async update(tools) {
      const names = importedNames(
        server,
        tools.map(({ name }) => name),
      );
      const enabled = tools.filter(({ name }) => parts.settings.tools[name]?.enabled !== false);
      const wanted = new Map(enabled.map((listed) => [names.get(listed.name) ?? listed.name, listed]));
      for (const [name, { listed, dispose }] of registered) {
        const next = wanted.get(name);
        if (next !== undefined && isSame(next, listed)) wanted.delete(name);
        else {
          await dispose();
          registered.delete(name);
        }
      }
      for (const [name, listed] of wanted) add(name, listed);
    },
    list: () => new Map([...registered].map(([name, { listed }]) => [name, listed])),
  };
}

function register(
  name: string,
  listed: ListedTool,
  { server, settings, clock, log, check, tool, need }: Parts,
): Disposer {
  return tool({
    name,
    description: listed.description,
    input: inputFor(listed.inputSchema, check),
    inputSchema: listed.inputSchema,
    risk: riskOf(listed, settings),
    yields: true,
    access: { tier: settings.tools[listed.name]?.tier ?? settings.tier },
    present: {
      action: `${server}: ${listed.name}`,
      success: (_, { text }: ImportedResult) => text,
      content: (_, { content }: ImportedResult) => content,
    },
    async run(input, context) {
      const connection = await need();
      return callTool(connection, input, context, {
        server,
        tool: listed.name,
        timeoutMs: settings.timeoutMs,
        clock,
        log,
        check,
      });
    },
  });
}

const RISKS = ['read', 'write', 'destructive'] as const;

/** What the owner says; of the server's own word only what makes it worse, unless the owner takes its word. */
function riskOf({ name, risk: hint }: ListedTool, { risk, tools }: ServerSettings): Risk {
  const own = tools[name]?.risk;
  if (own !== undefined || risk === 'hints') return own ?? hint;
  return RISKS.indexOf(hint) > RISKS.indexOf(risk) ? hint : risk;
}

function isSame(one: ListedTool, other: ListedTool): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
