import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { type Outcome, SettingsCatalog, Tools } from '@cinnabar/sdk';
import { useSharedHost } from '../../support/shared-host.js';

export interface Table extends AsyncDisposable {
  readonly host: TestHost;
  /** Calls a tool as a model on behalf of a member; resolves with the text that people would read. */
  call(tool: string, input?: Readonly<Record<string, unknown>>, as?: Caller): Promise<string>;
  configure(key: string, value: string): Promise<void>;
}
interface Caller {
  readonly user?: LocalUser;
  readonly channel?: LocalChannel;
}

/** A host with the plugin `party`, without interceptors between a call and its execution. */
export async function openTable(plugins: TestHostOptions['plugins'] = []): Promise<Table> {
  return tableOf(await createTestHost({ plugins: ['party', ...plugins] }));
}

/**
 * One host for the tests of a file: see `useSharedHost`.
 * @returns opens a table in a guild of its own
 */
export function useTable(plugins: TestHostOptions['plugins'] = []): () => Promise<Table> {
  const enter = useSharedHost(() => ({ plugins: ['party', ...plugins] }));
  return async () => tableOf(await enter());
}

function tableOf(host: TestHost): Table {
  const actorOf = ({ user = host.alice, channel = host.general }: Caller) => ({
    userId: user.id,
    guildId: channel.guild?.id ?? null,
    channelId: channel.id,
  });
  return {
    host,
    async call(name, input = {}, as = {}) {
      const request = { name, arguments: input, actor: actorOf(as), origin: 'test' };
      return textOf(await host.resolve(Tools).invoke(request));
    },
    async configure(key, value) {
      await host.resolve(SettingsCatalog).set('party', key, value, actorOf({ user: host.you }));
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function textOf(outcome: Outcome): string {
  if (outcome.status === 'done') return outcome.text;
  if (outcome.status === 'failed') return outcome.error.message;
  throw new Error(`the call is ${outcome.status}`);
}
