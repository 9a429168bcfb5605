import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalApplication, LocalChannel, LocalGuild, LocalUser } from '@cinnabar/local-discord';
import { callToolRaw, type ModelStep, type RecordedRequest, say, startAnthropicStandIn } from '@cinnabar/local-models';
import { definePlugin, type Plugin, SettingsCatalog, z } from '@cinnabar/sdk';
import { attemptsOf } from './decks.js';

/** A host whose model is a stand-in for a real provider's service, so that its requests are those that a model would receive. */
export interface Harness extends AsyncDisposable {
  readonly host: TestHost;
  /** Another bot, which can use webhooks and embeds. */
  readonly parrot: LocalApplication;
  /** The common parts of all requests, as first seen. */
  readonly common: Map<string, string>;
  /** The next result of the tool `look`. */
  shelf: string;
  /** Creates a server with the honest members and the bots. */
  openGuild(name: string): Promise<LocalGuild>;
  /** Creates a member with a hostile name. */
  newcomer(guild: LocalGuild, nick: string | null): LocalUser;
  /** Posts as the other bot. */
  post(channel: LocalChannel, message: Posted): Promise<void>;
  /** Runs a task whose requests to the model are answered by the steps in order. @returns the requests */
  during(task: () => unknown, ...steps: readonly ModelStep[]): Promise<readonly RecordedRequest[]>;
}

export interface Posted {
  readonly content?: string;
  readonly embeds?: readonly { readonly title?: string; readonly description?: string }[];
  /** Posts through a webhook, under this name. */
  readonly username?: string;
}

/** A model that accepts prefill, as older models do. */
const MODEL = 'claude-haiku-4-5';

export async function openHarness(): Promise<Harness> {
  let steps: ModelStep[] = [];
  const model = await startAnthropicStandIn({
    prefill: true,
    script: ({ tools, system }) => fitting(steps.shift() ?? say('There is nothing more to say.'), tools, system),
  });
  const harness = { shelf: 'a book' };
  const host = await createTestHost({
    plugins: ['admin', 'ai', 'chat', 'confirm', 'persona', 'tasks', 'llm', createShelves(harness)],
    settings: { llm: { provider: 'anthropic', model: MODEL } },
    env: { ANTHROPIC_BASE_URL: model.baseUrl, ANTHROPIC_API_KEY: 'sk-campaign' },
  });
  const owner = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
  const settings = host.resolve(SettingsCatalog);
  await settings.set('tasks', 'stepDelayMs', '0', owner);
  const parrot = host.discord.createApplication({ name: 'Parrot', owner: host.you });
  host.guild.invite(parrot);
  let people = 0;

  const rest = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${host.discord.api}/v10${path}`, {
      method: 'POST',
      headers: { authorization: `Bot ${parrot.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };

  return {
    common: new Map(),
    get shelf() {
      return harness.shelf;
    },
    set shelf(text) {
      harness.shelf = text;
    },
    host,
    parrot,
    async openGuild(name) {
      const guild = host.discord.createGuild({ name, owner: host.you });
      guild.invite(host.application);
      guild.invite(parrot);
      for (const one of [host.alice, host.bob]) guild.join(one);
      const office = guild.createChannel({ name: 'office' });
      await host.settled();
      await settings.set('confirm', 'controls', 'both', {
        userId: host.you.id,
        guildId: guild.id,
        channelId: office.id,
      });
      return guild;
    },
    newcomer(guild, nick) {
      people += 1;
      const user = host.discord.createUser({ name: `mallory${people}` });
      guild.join(user, nick === null ? {} : { nick });
      return user;
    },
    async post(channel, { username, ...message }) {
      if (username === undefined) return void (await rest(`/channels/${channel.id}/messages`, message));
      const hook = z
        .object({ id: z.string(), token: z.string() })
        .parse(await rest(`/channels/${channel.id}/webhooks`, { name: 'hook' }));
      await rest(`/webhooks/${hook.id}/${hook.token}`, { ...message, username });
    },
    async during(task, ...next) {
      steps = [...next];
      const before = model.requests.length;
      await task();
      await host.settled();
      return model.requests.slice(before);
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** In a request for a persona's plan, the plan is the only possible call. */
function fitting(step: ModelStep, tools: readonly string[], system: string): ModelStep {
  const [only, ...more] = tools;
  const isPlan = system.startsWith('I am ') && step.kind === 'reply' && step.text !== undefined;
  if (!isPlan || only === undefined || more.length > 0) return step;
  return callToolRaw(only, step.text ?? '');
}

/** Tools with hostile descriptions, and one that returns `shelf`. */
function createShelves(harness: { readonly shelf: string }): Plugin {
  return definePlugin({
    manifest: { id: 'shelves', version: '1.0.0', description: 'Shelves with anything on them' },
    setup({ tool }) {
      const define = (name: string, description: string) =>
        tool({
          name,
          description,
          input: z.object({ shelf: z.string() }),
          risk: 'read',
          policy: 'allow',
          present: { success: () => harness.shelf },
          run: () => undefined,
        });
      define('look', 'Looks at a shelf.');
      tool({
        name: 'shelve',
        description: 'Puts a book on a shelf.',
        input: z.object({ book: z.string() }),
        risk: 'write',
        policy: 'confirm',
        present: { sentence: ({ book }) => `I'll shelve ${book}`, success: () => harness.shelf },
        run: () => undefined,
      });
      for (const [index, { text }] of attemptsOf('tool description').entries()) define(`look_${index}`, text);
    },
  });
}
