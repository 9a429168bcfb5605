import { callTool, fail, type ModelScript, type StandIn, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { type Folder, makeFolder } from '../../support/folder.js';
import { pluginFiles } from '../../support/plugin-package.js';

const TOOLS = `
    context.tool({
      name: 'draw_cards', description: 'Draw cards from a deck.', risk: 'read',
      input: z.object({ count: z.int().min(1).max(10), deck: z.enum(['red', 'blue']).default('red') }),
      examples: ['draw {count} cards', 'draw {count} cards from the {deck} deck'],
      run: () => 'Queen of hearts',
    });
    context.tool({
      name: 'deal_hand', description: 'Deal a hand to a member.', risk: 'write',
      input: z.object({ member: z.string(), within: z.string().optional() }),
      examples: ['deal a hand to {member}'],
      run: () => 'Dealt',
    });`;
const EVALUATIONS = `evaluations: [
    { say: 'I need three cards', tool: 'draw_cards', input: { count: 3 } },
    { say: 'Who has won at cards yesterday?' },
  ],`;

/** The documented properties of the output with `--json`. */
const score = z.object({
  asked: z.int(),
  forTool: z.int(),
  rightTool: z.int(),
  rightInput: z.int(),
  forNone: z.int(),
  silent: z.int(),
  failures: z.int(),
  tokens: z.int(),
  cost: z.number().nullable(),
  ms: z.number(),
});
const printed = z.strictObject({
  version: z.literal(1),
  seed: z.number(),
  distractors: z.number(),
  models: z.array(
    z.strictObject({
      model: z.string(),
      provider: z.string(),
      right: z.number(),
      total: score.strict(),
      plugins: z.array(score.extend({ plugin: z.string() }).strict()),
      tools: z.array(score.extend({ plugin: z.string(), tool: z.string() }).strict()),
      mistakes: z.array(
        z.strictObject({
          plugin: z.string(),
          say: z.string(),
          tool: z.string().nullable(),
          input: z.record(z.string(), z.unknown()),
          calls: z.array(z.object({ name: z.string(), input: z.unknown() })),
          failure: z.string().optional(),
        }),
      ),
      notAsked: z.int(),
    }),
  ),
});

/** A model that understands the plugin's examples. */
const attentive: ModelScript = ({ text }) => {
  const [, count, deck] = /draw (\d+) cards(?: from the (\w+) deck)?/.exec(text) ?? [];
  if (count !== undefined) return callTool('draw_cards', { count: Number(count), ...(deck ? { deck } : {}) });
  if (text.includes('three cards')) return callTool('draw_cards', { count: '3' });
  const [, member] = /deal a hand to @(\w+)/.exec(text) ?? [];
  return member === undefined ? say('Who knows.') : callTool('deal_hand', { member });
};

describe('cinnabar eval', function () {
  this.timeout(60_000);
  let folder: Folder;
  let api: StandIn | undefined;

  before(() => {
    folder = makeFolder({
      ...pluginFiles({ id: 'cards', definition: EVALUATIONS, setup: TOOLS, packageFile: { name: 'cards' } }),
    });
  });
  after(() => folder[Symbol.dispose]());

  const run = async (script: ModelScript, ...args: readonly string[]) => {
    await using standIn = await startOpenAiStandIn({ script });
    api = standIn;
    const env = { OPENAI_API_KEY: 'sk-local', OPENAI_BASE_URL: standIn.baseUrl, OPENAI_MODEL: 'gpt-5-mini' };
    return await cinnabar(['eval', folder.path, ...args], { cwd: folder.path, env });
  };

  it("sends the examples and evaluations of the folder's plugin with other plugins' tools, and runs no tool", async () => {
    const { code, out, err } = await run(attentive, '--json', '--distractors', '4');
    expect(code).to.equal(0);
    const [report] = printed.parse(JSON.parse(out)).models;
    expect(report).to.deep.include({ model: 'gpt-5-mini', provider: 'openai', right: 100, mistakes: [], notAsked: 0 });
    // Three examples, an evaluation with a tool and one without, three lines of small talk.
    expect(report?.total).to.deep.include({ asked: 8, forTool: 4, rightTool: 4, rightInput: 4, forNone: 4, silent: 4 });
    expect(report?.tools.map(({ tool, asked }) => [tool, asked])).to.deep.equal([
      ['draw_cards', 3],
      ['deal_hand', 1],
    ]);
    expect(report?.total.cost).to.be.greaterThan(0);
    for (const { prompt } of api?.requests ?? []) {
      expect(prompt.tools).to.include.members(['draw_cards', 'deal_hand']).and.have.length(6);
    }
    expect(err).to.include('asking gpt-5-mini 8 times: at most $5');
  });

  it('counts a wrong tool, wrong arguments, and a call where none is right, and says which', async () => {
    const hasty: ModelScript = ({ text }) =>
      text.includes('deal')
        ? callTool('draw_cards', { count: 1 })
        : text.includes('draw')
          ? callTool('draw_cards', { count: 99 })
          : callTool('deal_hand', { member: 'alice' });
    const { code, out } = await run(hasty, '--at-least', '80');
    expect(code).to.equal(1);
    expect(out).to.match(/^gpt-5-mini \(openai\): 0\.0 % right, 8 asked\./);
    expect(out).to.match(/ {2}draw_cards +3 +2\/3 +0\/3/);
    expect(out).to.match(/ {2}deal_hand +1 +0\/1 +0\/1/);
    expect(out).to.match(/cards, in all +8 +2\/4 +0\/4 +0\/4/);
    expect(out).to.include(
      '“deal a hand to @alice”: called draw_cards {"count":1}; right is deal_hand {"member":"alice"}',
    );
    expect(out).to.include('“Who has won at cards yesterday?”: called deal_hand {"member":"alice"}; right is nothing');
  });

  it('asks for one tool, and the same with the same seed', async () => {
    const asked: string[] = [];
    const listening: ModelScript = (prompt) => {
      asked.push(`${prompt.text}: ${prompt.tools.join()}`);
      return attentive(prompt);
    };
    for (const seed of ['7', '7', '8']) {
      await run(listening, '--tool', 'deal_hand', '--seed', seed, '--json');
      asked.push('');
    }
    const [first = [], again = [], other = []] = asked
      .join('\n')
      .split('\n\n')
      .map((all) =>
        all
          .split('\n')
          .filter((line) => line !== '')
          .sort(),
      );
    expect(first).to.deep.equal(again).and.not.deep.equal(other);
    expect(first.filter((line) => line.includes('cards:')).length).to.equal(0);
  });

  it('counts what a provider could not answer apart, and fails when nothing was answered', async () => {
    const { code, out } = await run(() => fail(401), '--tool', 'deal_hand', '--json');
    expect(code).to.equal(1);
    const [report] = printed.parse(JSON.parse(out)).models;
    expect(report?.total).to.deep.include({ failures: report?.total.asked, forTool: 0, forNone: 0 });
    expect(report?.mistakes[0]?.failure).to.be.a('string').and.not.include('sk-local');
  });

  it('stops when the money is spent, and says how much was not asked', async () => {
    const dear: ModelScript = (prompt) => ({
      ...attentive(prompt),
      usage: { inputTokens: 1_000_000, outputTokens: 100_000 },
    });
    const { out } = await run(dear, '--max-cost', '0.1', '--json');
    const [report] = printed.parse(JSON.parse(out)).models;
    // Requests that were already running when the first one was paid for.
    expect(report?.total.asked).to.equal(4);
    expect(report?.notAsked).to.equal(4);
  });

  it('refuses unknown names, and a missing model, with a sentence', async () => {
    const refused = async (...args: readonly string[]) => {
      const { code, err } = await run(attentive, ...args);
      expect(code).to.equal(1);
      return err;
    };
    expect(await refused('--tool', 'fly')).to.include('There is no tool "fly". There are: draw_cards, deal_hand.');
    expect(await refused('--plugin', 'fly')).to.match(/There is no plugin "fly"\. There are: accounts, admin, /);
    expect(await refused('--max-cost', 'much')).to.include('--max-cost much: a number of 0 or more is needed.');
  });
});
