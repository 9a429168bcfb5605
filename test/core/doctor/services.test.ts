import { createServer } from 'node:http';
import { createTestHost } from '@cinnabar/core/testing';
import { startLettaStandIn } from '@cinnabar/local-letta';
import { Doctor } from '@cinnabar/sdk';
import { expect } from 'chai';

const KEY = 'sk-doctor-key-0001';

/** A service that answers every request with one status. */
async function startService(status: number) {
  const server = createServer((_request, response) => response.writeHead(status).end('{"data":[]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return {
    host: `127.0.0.1:${address.port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** The doctor's findings about a plugin, with the remedies in brackets. */
async function examine(plugin: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using host = await createTestHost({ plugins: ['llm', 'relay', 'ai', 'chat', 'confirm', 'accounts'], env });
  const findings = await host.resolve(Doctor).examine();
  expect(JSON.stringify(findings)).to.not.include(KEY);
  return findings
    .filter(({ about }) => about === plugin)
    .map(({ ok, text, remedy }) => `${ok ? '✓' : '✗'} ${text}${remedy === undefined ? '' : ` (${remedy})`}`);
}

describe('the doctor, of services that plugins use', () => {
  it('says whether a provider of models answers, refuses the key, fails, or is not there, with the remedy', async () => {
    const expected: readonly (readonly [number, RegExp])[] = [
      [200, /^✓ openai at \S+ answers, and accepts the key$/],
      [
        401,
        /^✗ openai at \S+ does not accept the key \(Put a valid key into OPENAI_API_KEY, or into the configuration/,
      ],
      [503, /^✗ openai at \S+ answers with the error 503 \(Wait, or look at the status page/],
    ];
    for (const [status, said] of expected) {
      const service = await startService(status);
      const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `http://${service.host}/v1` };
      expect((await examine('llm', env))[0], String(status)).to.match(said);
      await service.close();
      if (status === 503)
        expect((await examine('llm', env))[0]).to.match(
          /^✗ openai at \S+ cannot be reached \([^)]+\) \(Look at its address/,
        );
    }
  });

  it('says whether the Letta server answers, and which version it is', async () => {
    await using letta = await startLettaStandIn();
    expect((await examine('relay', { LETTA_BASE_URL: letta.baseUrl }))[0]).to.match(
      /^✓ The Letta server answers \(version \d/,
    );
    const gone = await startService(500);
    await gone.close();
    expect((await examine('relay', { LETTA_BASE_URL: `http://${gone.host}`, LETTA_API_KEY: KEY }))[0]).to.match(
      /^✗ .* \(Look at LETTA_BASE_URL and LETTA_API_KEY, and whether the server runs\.\)$/,
    );
    expect(await examine('relay', {})).to.deep.equal([]);
  });
});
