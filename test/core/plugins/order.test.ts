import { type Dependent, orderPlugins } from '@cinnabar/core/internal/plugins/start-order';
import { expect } from 'chai';
import fc from 'fast-check';

const plugin = (id: string, wants: Partial<Omit<Dependent, 'id'>> = {}): Dependent => ({
  id,
  needs: [],
  likes: [],
  provides: [],
  ...wants,
});
const noHostTokens = () => false;
const order = (plugins: readonly Dependent[], hostTokens: readonly string[] = []) =>
  orderPlugins(plugins, (token) => hostTokens.includes(token));

describe('the order in which plugins start', () => {
  it('is the given one where nothing depends on anything', () => {
    expect(order([plugin('b'), plugin('a'), plugin('c')]).order).to.deep.equal(['b', 'a', 'c']);
  });

  it('puts a provider before those that need it', () => {
    const plugins = [plugin('chat', { needs: ['llm'] }), plugin('llm', { provides: ['llm'] })];
    expect(order(plugins).order).to.deep.equal(['llm', 'chat']);
  });

  it('puts an optional provider first as well', () => {
    const plugins = [plugin('party', { likes: ['llm'] }), plugin('llm', { provides: ['llm'] })];
    expect(order(plugins).order).to.deep.equal(['llm', 'party']);
  });

  it('counts what the host provides as there', () => {
    expect(order([plugin('admin', { needs: ['plugins'] })], ['plugins']).order).to.deep.equal(['admin']);
  });

  it('names the token without a provider', () => {
    const { order: able, hindered } = order([plugin('chat', { needs: ['llm'] }), plugin('dice')]);
    expect(able).to.deep.equal(['dice']);
    expect(hindered.get('chat')).to.deep.equal({ kind: 'missing', token: 'llm' });
  });

  it('names the provider that cannot start itself', () => {
    const plugins = [plugin('chat', { needs: ['llm'] }), plugin('llm', { provides: ['llm'], needs: ['keys'] })];
    const { hindered } = order(plugins);
    expect(hindered.get('chat')).to.deep.equal({ kind: 'blocked', token: 'llm', provider: 'llm' });
    expect(hindered.get('llm')).to.deep.equal({ kind: 'missing', token: 'keys' });
  });

  it('names a circle, and what hangs on it as blocked', () => {
    const plugins = [
      plugin('a', { needs: ['B'], provides: ['A'] }),
      plugin('b', { needs: ['C'], provides: ['B'] }),
      plugin('c', { needs: ['A'], provides: ['C'] }),
      plugin('d', { needs: ['A'] }),
    ];
    const { order: able, hindered } = order(plugins);
    expect(able).to.deep.equal([]);
    expect(hindered.get('a')).to.deep.equal({ kind: 'circular', cycle: ['a', 'b', 'c', 'a'] });
    expect(hindered.get('d')).to.deep.equal({ kind: 'blocked', token: 'A', provider: 'a' });
  });

  it('names a plugin that needs what it provides itself', () => {
    const { hindered } = order([plugin('a', { needs: ['A'], provides: ['A'] })]);
    expect(hindered.get('a')).to.deep.equal({ kind: 'circular', cycle: ['a', 'a'] });
  });

  it('breaks a circle that an optional dependency closes: what is needed comes first', () => {
    const plugins = [
      plugin('a', { likes: ['B'], provides: ['A'] }),
      plugin('b', { needs: ['A'], provides: ['B'] }),
      plugin('c', { likes: ['C'], provides: ['C'] }),
    ];
    expect(order(plugins).order).to.deep.equal(['a', 'b', 'c']);
  });

  const token = fc.integer({ min: 0, max: 9 }).map((n) => `t${n}`);
  const tokens = fc.uniqueArray(token, { maxLength: 3 });
  const anyPlugins = fc
    .array(fc.record({ needs: tokens, likes: tokens, provides: tokens }), { maxLength: 10 })
    .map((all) => all.map((wants, index) => plugin(`p${index}`, wants)));

  it('orders or explains every plugin, exactly once', () => {
    fc.assert(
      fc.property(anyPlugins, (plugins) => {
        const { order: able, hindered } = orderPlugins(plugins, noHostTokens);
        const ids = plugins.map(({ id }) => id).sort();
        expect([...able, ...hindered.keys()].sort()).to.deep.equal(ids);
      }),
    );
  });

  it('never puts a plugin before one whose token it needs', () => {
    fc.assert(
      fc.property(anyPlugins, (plugins) => {
        const { order: able } = orderPlugins(plugins, noHostTokens);
        for (const { id, needs } of plugins.filter((one) => able.includes(one.id))) {
          for (const needed of needs) {
            const provider = plugins.find(({ provides }) => provides.includes(needed))?.id;
            expect(able.indexOf(provider ?? 'nobody')).to.be.within(0, able.indexOf(id) - 1);
          }
        }
      }),
    );
  });

  it('blocks no plugin without a cause: every blocked plugin has an unmet need', () => {
    fc.assert(
      fc.property(anyPlugins, (plugins) => {
        const { order: able, hindered } = orderPlugins(plugins, noHostTokens);
        for (const { id, needs } of plugins.filter((one) => hindered.has(one.id))) {
          const met = (needed: string) =>
            able.includes(plugins.find(({ provides }) => provides.includes(needed))?.id ?? 'nobody');
          expect(needs.every(met), id).to.equal(false);
        }
      }),
    );
  });

  it('closes every circle that it names', () => {
    fc.assert(
      fc.property(anyPlugins, (plugins) => {
        for (const [id, hindrance] of orderPlugins(plugins, noHostTokens).hindered) {
          if (hindrance.kind !== 'circular') continue;
          expect(hindrance.cycle[0]).to.equal(id);
          expect(hindrance.cycle.at(-1)).to.equal(id);
          for (const [index, from] of hindrance.cycle.slice(0, -1).entries()) {
            const next = plugins.find((one) => one.id === hindrance.cycle[index + 1]);
            const needs = plugins.find((one) => one.id === from)?.needs ?? [];
            expect(next?.provides.some((provided) => needs.includes(provided))).to.equal(true);
          }
        }
      }),
    );
  });
});
