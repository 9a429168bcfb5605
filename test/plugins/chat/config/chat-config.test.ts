import { expect } from 'chai';
import { inGerman } from '../../../support/languages.js';
import { effective, openConfig } from './harness.js';

describe('chat: the configuration of a channel', () => {
  it('is the default of the seed, except for a safe depth of tool calls', async () => {
    const { config, origin, problems } = await effective({});
    expect(config).to.deep.equal({
      mode: 'chat',
      innerName: undefined,
      allowedModels: [],
      fallbackModels: [],
      maxTokens: 4096,
      stopSequences: [],
      streaming: false,
      llmRetries: 3,
      llmTimeoutMs: 120_000,
      cache: 'auto',
      recencyWindow: 400,
      maxContextTokens: 100_000,
      truncateToTokens: 60_000,
      historyRoles: [],
      includeImages: true,
      maxImages: 5,
      imageMaxBytes: 3_750_000,
      imageMaxTotalBytes: 15_000_000,
      maxTextFiles: 5,
      textFileMaxBytes: 20_000,
      toolsEnabled: true,
      toolsOnDemand: ['discord-tools'],
      toolOutputVisible: false,
      maxToolDepth: 8,
      replyOnRandom: 0,
      replyOnName: false,
      maxQueuedReplies: 5,
      botChainLength: 3,
      discordBackoffMax: 32_000,
      receipts: false,
    });
    expect(origin.temperature).to.equal('default');
    expect(problems).to.deep.equal([]);
  });

  it('is merged from the widest to the narrowest file, with the source of each value', async () => {
    const { config, origin, problems } = await effective({
      files: {
        'config/shared.yaml': 'temperature: 0.1\ntopP: 0.1\nreplyOnName: true\nmaxTokens: 1000\nmode: prefill\n',
        'config/bots/claude.yaml': '# a comment\ntopP: 0.2\nreplyOnRandom: 50\n',
      },
      settings: { replyOnName: false, maxTokens: 500, instructions: 'Be brief.' },
      pins: ['maxTokens: 200\n', '\ninstructions: Rhyme.\n'],
    });
    expect(config).to.include({
      temperature: 0.1,
      topP: 0.2,
      replyOnRandom: 50,
      replyOnName: false,
      maxTokens: 200,
      instructions: 'Rhyme.',
      mode: 'prefill',
    });
    expect(origin).to.include({
      temperature: 'config/shared.yaml:1',
      topP: 'config/bots/claude.yaml:2',
      replyOnName: 'setting of the server',
      maxTokens: 'pin 1:1',
      instructions: 'pin 2:2',
      maxImages: 'default',
    });
    expect(problems).to.deep.equal([]);
  });

  it('goes back to the default where a narrower file leaves a key empty', async () => {
    const { config } = await effective({
      files: {
        'config/shared.yaml': 'temperature: 0.1\nmaxImages: 1\n',
        'config/bots/a.yaml': 'temperature:\nmaxImages: null\n',
      },
    });
    expect(config.temperature).to.equal(undefined);
    expect(config.maxImages).to.equal(5);
  });

  it('has no settings of a server in direct messages', async () => {
    const { config } = await openConfig({ settings: { maxTokens: 100 } }).inDirectMessage();
    expect(config.maxTokens).to.equal(4096);
  });

  it('names the model after itself where it is not said otherwise', async () => {
    expect((await effective({ files: { a: 'name: Claude' } })).config.innerName).to.equal('Claude');
    expect((await effective({ files: { a: 'name: Claude\ninnerName: Sonnet' } })).config.innerName).to.equal('Sonnet');
  });

  it('cuts down to well below the limit, whatever is said', async () => {
    const of = async (yaml: string) => effective({ files: { 'config/shared.yaml': yaml } });
    expect((await of('maxContextTokens: 10000')).config.truncateToTokens).to.equal(6000);
    expect((await of('maxContextTokens: 10000\ntruncateToTokens: 9000')).config.truncateToTokens).to.equal(9000);
    const { config, problems } = await of('maxContextTokens: 10000\ntruncateToTokens: 9999');
    expect(config.truncateToTokens).to.equal(6000);
    expect(problems).to.deep.equal([
      'config/shared.yaml:2: truncateToTokens: must be at most 9 tenths of maxContextTokens (10000); 6 tenths are used',
    ]);
  });
});

describe('chat: a mistake in the configuration', () => {
  it('costs that key alone, and is one sentence with file, line and key', async () => {
    const { config, problems } = await effective({
      files: { 'config/bots/claude.yaml': 'temperature: hot\nmaxImages: 2\nrecencyWindow: 0\n' },
    });
    expect(config).to.include({ maxImages: 2, recencyWindow: 400 });
    expect(config.temperature).to.equal(undefined);
    expect(problems).to.have.length(2);
    expect(problems[0]).to.match(/^config\/bots\/claude\.yaml:1: temperature: .*number/);
    expect(problems[1]).to.match(/^config\/bots\/claude\.yaml:3: recencyWindow: /);
  });

  it('in an id that lost its quotes says what to do', async () => {
    const { problems } = await effective({ files: { a: 'historyRoles: [123456789012345678]' } });
    expect(problems).to.deep.equal(['a:1: historyRoles: must be text: put the id in quotes']);
  });

  it('is logged once, however often the bot is asked', async () => {
    const { inGuild, log } = openConfig({ files: { a: 'mode: telepathy' }, pins: ['moed: chat'] });
    for (let n = 0; n < 3; n++) await inGuild();
    expect(log.entries.map(({ level }) => level)).to.deep.equal(['warn', 'warn']);
  });

  it('is in the language of the requester, and in English in the log', async () => {
    const { inGuild, log } = openConfig({ files: { a: 'temperature: hot' }, pins: ['temprature: 1', 'mode: ['] });
    const { problems } = await inGerman(['plugins/chat'], inGuild);
    expect(problems.slice(0, 2)).to.deep.equal([
      'a:1: temperature: Ungültige Eingabe: erwartet Zahl, erhalten string',
      'pin 1:1: temprature: diesen Schlüssel gibt es nicht. Meinst du temperature?',
    ]);
    expect(problems[2]).to.match(/^pin 2:1: es ist kein gültiges YAML: /);
    expect(log.entries.map(({ message }) => message).join('\n')).to.include('Did you mean temperature?');
    expect((await inGuild()).problems[1]).to.equal(
      'pin 1:1: temprature: there is no such key. Did you mean temperature?',
    );
  });

  it('of other plugins is not reported by chat', async () => {
    expect((await effective({ files: { a: 'vendors: {}\nquux: 1' } })).problems).to.deep.equal([]);
  });
});

describe('chat: what an admin may set', () => {
  it('lowers what costs money, but does not raise it', async () => {
    const files = { 'config/shared.yaml': 'maxTokens: 1000\nincludeImages: false\nmaxToolDepth: 20\n' };
    const { config, problems } = await effective({
      files,
      settings: { maxTokens: 2000, includeImages: true, maxToolDepth: 10 },
    });
    expect(config).to.include({ maxTokens: 1000, includeImages: false, maxToolDepth: 10 });
    expect(problems).to.deep.equal([
      'setting of the server: maxTokens: may be lowered here, not raised above 1000',
      'setting of the server: includeImages: may be lowered here, not raised above false',
    ]);
  });

  it('is a model among those that the owner allows', async () => {
    const files = { 'config/shared.yaml': 'continuationModel: big\nallowedModels: [small, "claude-*-haiku-*"]\n' };
    const chosen = async (model: string) =>
      (await effective({ files, settings: { continuationModel: model } })).config.continuationModel;
    expect(await chosen('small')).to.equal('small');
    expect(await chosen('claude-4-haiku-2026')).to.equal('claude-4-haiku-2026');
    for (const other of ['smaller', 'claude-4-opus-2026', 'claude-haiku', 'claude-haiku-', ''])
      expect(await chosen(other)).to.equal('big');
  });

  it('accepts its earlier name, too', async () => {
    expect((await effective({ settings: { history: 30 } })).config.recencyWindow).to.equal(30);
    expect((await effective({ settings: { history: 30, recencyWindow: 20 } })).config.recencyWindow).to.equal(20);
  });
});
