import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { fail, startOpenAiStandIn } from '@cinnabar/local-models';
import { CinnabarError, definePlugin, OperatorError, Tools, z } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { makeFolder } from '../support/folder.js';

const PATH = '/srv/cinnabar/data/documents/trap/notes/1.json';
const ADDRESS = 'http://10.0.0.7:8283';
const INTERNAL = /\/srv|\.json|https?:|127\.0\.0\.1|10\.0\.0|\b[A-Z]+_[A-Z_]+\b|documents\/|ECONN|ENOENT/;

const FAILURES: Readonly<Record<string, () => Error>> = {
  bug: () => new TypeError(`Cannot read properties of undefined, at ${PATH}`),
  file: () => Object.assign(new Error(`ENOENT: no such file or directory, open '${PATH}'`), { code: 'ENOENT' }),
  fetch: () => new TypeError('fetch failed', { cause: new Error(`connect ECONNREFUSED ${ADDRESS}`) }),
  document: () => new CinnabarError('CINNABAR_DOCUMENT_INVALID', { document: PATH, detail: 'lines: expected array' }),
  unreadable: () => new CinnabarError('CINNABAR_STORAGE_READ', { document: PATH, detail: 'EACCES' }),
  refused: () => new CinnabarError('CINNABAR_STORAGE_WRITE', { document: PATH, detail: 'ENOSPC' }),
  plugin: () => new OperatorError(`TRAP_URL is ${ADDRESS}`, 'The trap is not set.'),
};

const trap = definePlugin({
  manifest: { id: 'trap', version: '1.0.0', description: 'Fails in every way' },
  setup({ command, tool }) {
    const options = { what: z.string().describe('How') };
    const run = async (what: string): Promise<never> => {
      throw FAILURES[what]?.() ?? new Error('there is no such failure');
    };
    command({ name: 'trap', description: 'Fails', options, run: (_, { what }) => run(what) });
    tool({
      name: 'trap',
      description: 'Fails',
      risk: 'read',
      input: z.object({ what: z.string() }),
      examples: [],
      run: ({ what }) => run(what),
    });
  },
});

describe('errors and who reads them', () => {
  let host: TestHost;
  let model: Awaited<ReturnType<typeof startOpenAiStandIn>>;
  /** The error references that members received. */
  const references: string[] = [];
  const folder = makeFolder();
  before(async () => {
    model = await startOpenAiStandIn({ script: () => fail(401) });
    host = await createTestHost({
      clock: createManualClock(),
      dataDir: folder.path,
      logFiles: true,
      plugins: ['ai', 'llm', 'chat', trap],
      settings: { llm: { provider: 'openai' } },
      env: { OPENAI_API_KEY: 'sk-wrong-0123456789', OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'stand-in' },
    });
  });
  after(async () => {
    await model[Symbol.asyncDispose]();
  });
  const answerTo = async (text: string) => {
    const since = host.alice.say(host.general, text);
    await host.settled();
    return (await host.discord.expectMessage({ channel: host.general, author: host.bot, since })).content;
  };

  for (const what of Object.keys(FAILURES)) {
    it(`a command that fails (${what}) tells members nothing internal, and the log the reason`, async () => {
      const told = await answerTo(`!trap ${what}`);
      expect(told).not.to.match(INTERNAL);
      references.push(/reference `([^`]+)`/.exec(told)?.[1] ?? 'no reference');
    });

    it(`a tool that fails (${what}) tells nothing internal either, and the log has the call`, async () => {
      const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
      const outcome = await host.resolve(Tools).invoke({ name: 'trap', arguments: { what }, actor, origin: 'test' });
      expect(outcome).to.have.property('status', 'failed');
      expect(JSON.stringify({ ...outcome, code: '' }).replace(/"CINNABAR_\w+"/, '')).not.to.match(INTERNAL);
      references.push(outcome.callId);
    });
  }

  it('a model that refuses the key is a plain sentence to the member; the owner reads address and variable', async () => {
    const told = await answerTo(`${host.bot} hello`);
    expect(told)
      .to.match(/language model did not accept the request.*reference `/)
      .and.not.to.match(INTERNAL);
    await host.advance(10_000);
    const notices = host.you.openDm(host.application).messages.map(({ content }) => content);
    expect(notices.join('\n')).to.include('OPENAI_API_KEY').and.to.include(new URL(model.baseUrl).host);
  });

  it('leads from each reference to the log, which has the reasons', async () => {
    await host[Symbol.asyncDispose]();
    const logs = join(folder.path, 'logs');
    const log = readdirSync(logs)
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('');
    for (const reference of references) expect(log, reference).to.include(reference);
    for (const reason of [PATH, ADDRESS, 'TRAP_URL']) expect(log).to.include(reason);
    folder[Symbol.dispose]();
  });
});
