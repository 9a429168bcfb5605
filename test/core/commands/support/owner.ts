import type { Owner } from '@cinnabar/core/internal/contracts';
import { createScope } from '@cinnabar/core/internal/plugins/scope';
import { type Clock, definePlugin, type LogFields, type Logger } from '@cinnabar/sdk';

export interface LoggedEntry {
  readonly level: 'error' | 'warn' | 'info' | 'debug' | 'trace';
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that can be read back. */
export function recordLog(): { readonly log: Logger; readonly entries: LoggedEntry[] } {
  const entries: LoggedEntry[] = [];
  const bound = (base: LogFields): Logger => {
    const at =
      (level: LoggedEntry['level']) =>
      (message: string, fields: LogFields = {}) => {
        entries.push({ level, message, fields: { ...base, ...fields } });
      };
    return {
      error: at('error'),
      warn: at('warn'),
      info: at('info'),
      debug: at('debug'),
      trace: at('trace'),
      traces: false,
      child: (fields) => bound({ ...base, ...fields }),
    };
  };
  return { log: bound({}), entries };
}

/** One run of an otherwise empty plugin. */
export function createOwner(id: string, clock: Clock, log: Logger): Owner {
  const plugin = definePlugin({ manifest: { id, version: '1.0.0', description: `The ${id} plugin` }, setup() {} });
  return { id, plugin, scope: createScope({ plugin: id, clock }), log };
}
