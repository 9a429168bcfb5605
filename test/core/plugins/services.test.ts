import { CinnabarError, defineToken, optional, type Token } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createPluginHarness, runOf } from './support/harness.js';
import { testPlugin } from './support/plugins.js';

const A = defineToken<{ readonly name: string }>('test.a');
const B = defineToken<{ readonly name: string }>('test.b');
const HOST = defineToken<{ readonly name: string }>('test.host');
function setUp() {
  const { services, hostServices } = createPluginHarness();
  hostServices.register(HOST.id, { useValue: { name: 'host' } });
  const owner = (id: string, provides: readonly Token<unknown>[]) => runOf(testPlugin(id, { provides }));
  return { services, owner, host: hostServices };
}
const codeOf = (task: () => unknown) => {
  try {
    task();
  } catch (error) {
    return error instanceof CinnabarError ? `${error.code}: ${error.message}` : String(error);
  }
  return 'nothing was thrown';
};

describe('the registry of services', () => {
  it('gives what the host and what plugins provide, by token', () => {
    const { services, owner } = setUp();
    services.provide(owner('one', [A]), A, { name: 'a' });
    expect(services.resolve({ a: A, host: HOST, b: optional(B) })).to.deep.equal({
      a: { name: 'a' },
      host: { name: 'host' },
      b: undefined,
    });
    expect([A, B, HOST].map(services.has)).to.deep.equal([true, false, true]);
  });

  it('takes two tokens of one id for the same', () => {
    const { services, owner } = setUp();
    services.provide(owner('one', [A]), A, { name: 'a' });
    expect(services.has(defineToken('test.a'))).to.equal(true);
  });

  it('lets a provider go, and leaves the others', async () => {
    const { services, owner } = setUp();
    const one = owner('one', [A]);
    services.provide(one, A, { name: 'a' });
    services.provide(owner('two', [B]), B, { name: 'b' });
    expect(one.scope.effects).to.deep.equal(['service test.a']);
    await one.scope.close();
    expect([A, B, HOST].map(services.has)).to.deep.equal([false, true, true]);
    expect(services.resolve({ b: B })).to.deep.equal({ b: { name: 'b' } });
  });

  it('distinguishes a service from its predecessor', async () => {
    const { services, owner } = setUp();
    const one = owner('one', [A]);
    const withdraw = services.provide(one, A, { name: 'first' });
    const first = services.provision(A.id);
    await withdraw();
    expect(services.provision(A.id)).to.equal(undefined);
    services.provide(one, A, { name: 'second' });
    expect(services.provision(A.id)).to.be.a('number').and.not.equal(first);
    expect(services.provision(HOST.id)).to.equal(services.provision(HOST.id)).and.be.a('number');
  });

  it('refuses a token that the plugin did not declare', () => {
    const { services, owner } = setUp();
    expect(codeOf(() => services.provide(owner('one', [A]), B, { name: 'b' }))).to.equal(
      'CINNABAR_TOKEN_UNDECLARED: The plugin "one" provides test.b without declaring it in `provides`.',
    );
  });

  it('refuses a token that is taken, by a plugin or by the host', () => {
    const { services, owner } = setUp();
    services.provide(owner('one', [A]), A, { name: 'a' });
    expect(codeOf(() => services.provide(owner('two', [A]), A, { name: 'other' }))).to.equal(
      'CINNABAR_TOKEN_TAKEN: test.a is already provided by the plugin "one".',
    );
    expect(codeOf(() => services.provide(owner('two', [HOST]), HOST, { name: 'other' }))).to.equal(
      'CINNABAR_TOKEN_TAKEN: test.host is already provided by the plugin "host".',
    );
    expect(services.resolve({ a: A })).to.deep.equal({ a: { name: 'a' } });
  });

  it('refuses to resolve what is needed and not there', () => {
    const { services } = setUp();
    expect(codeOf(() => services.resolve({ a: A }))).to.include('CINNABAR_DEPENDENCY_MISSING');
  });

  it("leaves the host's container alone", () => {
    const { services, owner, host } = setUp();
    services.provide(owner('one', [A]), A, { name: 'a' });
    expect(host.isRegistered(A.id, true)).to.equal(false);
  });
});
