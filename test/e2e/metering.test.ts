import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { callTool, type ModelScript, say, scriptedLlm, wordVector } from '@cinnabar/local-models';
import { Accounts, Responders, Tools, tokensOf } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../support/folder.js';

/** A way in which a plugin requests a model. */
interface Way {
  readonly plugin: string;
  /** The responder with the request, if it is one. */
  readonly responder?: string;
  /** The tool with the request, if it is one. */
  readonly tool?: string;
  /** `embed` for requests for embeddings. */
  readonly asks: 'complete' | 'embed';
  readonly name: string;
  /** Triggers the request as members do. */
  /** @returns the answer to the caller, when it is not in the channel */
  go(host: TestHost): Promise<unknown>;
  /** Whether a refusal is not shown to a member, as for background work. */
  readonly isSilent?: true;
}

const mention = async (host: TestHost, responder: string, text: string) => {
  host.you.say(host.general, `!ai use ${responder} --here`);
  await host.settled();
  host.alice.say(host.general, `!ai ${text}`);
  await host.settled();
};

const invoke = async (host: TestHost, name: string, input: Readonly<Record<string, unknown>>) => {
  const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
  const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'chat' });
  return outcome.status === 'failed' ? outcome.error.message : undefined;
};

const WAYS: readonly Way[] = [
  { plugin: 'chat', responder: 'chat', asks: 'complete', name: 'chat', go: (host) => mention(host, 'chat', 'Hi') },
  {
    plugin: 'persona',
    responder: 'persona',
    asks: 'complete',
    name: 'persona',
    go: (host) => mention(host, 'persona', 'Hi'),
  },
  {
    plugin: 'persona',
    asks: 'complete',
    name: 'persona, of its own accord',
    isSilent: true,
    async go(host) {
      for (const setting of ['timerMinutes 60', 'quietFrom 0', 'quietTo 0', `home ${host.general.id}`]) {
        host.you.say(host.general, `!set persona ${setting}`);
        await host.settled();
      }
      await host.advance(61_000);
      await host.advance(3_600_000);
    },
  },
  {
    plugin: 'persona',
    asks: 'embed',
    name: 'persona, memories',
    go: (host) => mention(host, 'persona', 'Remember that the bridge is closed'),
  },
  {
    plugin: 'tasks',
    responder: 'tasks',
    asks: 'complete',
    name: 'tasks',
    go: (host) => mention(host, 'tasks', 'Tidy up'),
  },
  {
    plugin: 'tasks',
    responder: 'tasks-auto',
    asks: 'complete',
    name: 'tasks-auto',
    go: (host) => mention(host, 'tasks-auto', 'What time is it?'),
  },
  {
    plugin: 'party',
    tool: 'recommend_gear',
    asks: 'complete',
    name: 'recommend_gear',
    async go(host) {
      await invoke(host, 'add_party_character', { name: 'V', role: 'Solo' });
      return invoke(host, 'recommend_gear', { loot_description: 'a rifle' });
    },
  },
];

/** Tools of plugins that use models, which do not request models themselves. */
const WITHOUT_MODEL = [
  'add_party_character',
  'calculate',
  'cancel_follow_up',
  'fetch_url',
  'list_follow_ups',
  'remove_party_character',
  'schedule_follow_up',
  'start_task',
  'view_party_members',
];

/** The requests to models in the sources of plugins. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  chat: ['complete'],
  party: ['complete'],
  persona: ['complete', 'embed'],
  tasks: ['complete', 'complete'],
};

/** Responders whose server requests the model; the plugin records that usage. */
const ELSEWHERE = ['relay'];

const answer: ModelScript = ({ system, tools, text }) => {
  if (system.includes('quartermaster')) return say('nothing that adds up');
  if (tools.includes('task_complete')) return callTool('task_complete', { summary: 'Done.' });
  if (!system.includes('<conversation>')) return say('Hello.');
  const remembered = {
    action: 'ADD_MEMORY',
    context: '',
    result: { text: 'The bridge is closed.', about: 'bridge', source: null },
  };
  const spoken = { action: 'SPEAK', context: '', result: { message: 'Hello.' } };
  const actions = text.includes('bridge') ? [remembered, spoken] : [spoken];
  return say(JSON.stringify({ reasoning: 'It seems right.', actions, can_extend: false }));
};

/** The tokens that the scripted model counts. */
const TOKENS_PER_ANSWER = 15;
const CHARACTERS_PER_TOKEN = 4;

describe('metering of models', () => {
  const model = scriptedLlm(answer, { embed: wordVector });

  it('is tested for every request that plugins make', () => {
    for (const plugin of readdirSync('plugins').filter((id) => id !== 'llm')) {
      const found = requestsIn(plugin);
      expect(found, `${plugin}: a way to a model that is not in this test`).to.deep.equal(REQUESTS[plugin] ?? []);
      const tested = WAYS.filter((way) => way.plugin === plugin).map(({ asks }) => asks);
      expect(new Set(tested), plugin).to.deep.equal(new Set(found));
    }
  });

  describe('with budgets', () => {
    let host: TestHost;
    before(async () => {
      host = await open({});
    });
    after(() => host[Symbol.asyncDispose]());

    it('knows every responder, and every tool of a plugin that asks models', () => {
      const responders = host
        .resolve(Responders)
        .list(host.guild.id)
        .map(({ name }) => name);
      expect([...responders].sort()).to.deep.equal(
        [...WAYS.flatMap(({ responder }) => responder ?? []), ...ELSEWHERE].sort(),
      );
      const users = new Set(WAYS.map(({ plugin }) => plugin));
      const tools = host
        .resolve(Tools)
        .list()
        .filter(({ plugin }) => users.has(plugin))
        .map(({ name }) => name);
      expect([...tools].sort()).to.deep.equal([...WAYS.flatMap(({ tool }) => tool ?? []), ...WITHOUT_MODEL].sort());
    });

    for (const way of WAYS) {
      it(`has a receipt of all that is used: ${way.name}`, async () => {
        const asked = count(way);
        await way.go(host);
        expect(count(way), 'the model was not asked').to.be.above(asked);
        expect(await tokensInReceipts(host)).to.equal(tokensOfModel());
      });
    }
  });

  describe('with tokensPerDay: 0', () => {
    const folder = makeFolder({ 'shared.yaml': 'budgets: {guild: {tokensPerDay: 0}}\n' });
    let host: TestHost;
    before(async () => {
      host = await open({ configDir: folder.path });
    });
    after(async () => {
      await host[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    });

    for (const way of WAYS) {
      it(`asks no model: ${way.name}`, async () => {
        const before = [model.requests.length, model.embedded.length];
        const said = textsOf(host).length;
        const told = await way.go(host);
        await host.settled();
        expect([model.requests.length, model.embedded.length]).to.deep.equal(before);
        if (way.isSilent === true) return;
        expect([told, ...textsOf(host).slice(said)].join('\n')).to.include(
          "I cannot answer at the moment: this server's budget for today is used up: 0 of 0 tokens;",
        );
      });
    }
  });

  const open = (options: { readonly configDir?: string }) =>
    createTestHost({
      ...options,
      plugins: ['accounts', 'admin', 'ai', 'chat', 'party', 'persona', 'relay', 'tasks', model],
    });
  const count = ({ asks }: Way) => (asks === 'embed' ? model.embedded : model.requests).length;
  const tokensOfModel = () =>
    model.requests.length * TOKENS_PER_ANSWER +
    model.embedded.flat().reduce((sum, { length }) => sum + Math.ceil(length / CHARACTERS_PER_TOKEN), 0);
});

/** The plugin's sources without its tests. */
function sourceOf(plugin: string): string {
  const folder = join('plugins', plugin, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
}

/** The calls of `Llm` in a plugin's source, sorted. */
function requestsIn(plugin: string): readonly string[] {
  return Array.from(sourceOf(plugin).matchAll(/\.(complete|embed)\(/g), ([, asks = '']) => asks).sort();
}

function channelsOf({ guild, general }: TestHost) {
  return [general, ...guild.threads.values()];
}

/** All texts in the channel and its threads. */
function textsOf(host: TestHost): readonly string[] {
  return channelsOf(host).flatMap(({ messages }) => messages.map(({ content }) => content));
}

async function tokensInReceipts(host: TestHost): Promise<number> {
  const kept = await Promise.all(channelsOf(host).map(({ id }) => host.resolve(Accounts).receipts(id)));
  return kept.flat().reduce((sum, { usage }) => sum + tokensOf(usage), 0);
}
