import { CinnabarError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, openToolHarness, recordingTool } from './harness.js';

const thrownBy = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if (error instanceof CinnabarError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('registering a tool', () => {
  it('is an effect of the plugin, taken back with its scope', async () => {
    const { service, load } = openToolHarness();
    const party = load('party');
    service.tool(party, recordingTool([]));
    expect(party.scope.effects).to.deep.equal(['tool add_party_character']);
    expect(service.list().map(({ name }) => name)).to.deep.equal(['add_party_character']);
    await party.scope.close();
    expect(service.list()).to.deep.equal([]);
  });

  it('refuses a name that another plugin has, naming it', () => {
    const { service, load } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    const error = thrownBy(() => service.tool(load('raid'), recordingTool([])));
    expect(error.code).to.equal('CINNABAR_NAME_TAKEN');
    expect(error.message).to.contain('"party"');
  });

  for (const name of ['', 'add-character', 'add character', '1st', 'x'.repeat(65), '__proto__']) {
    it(`refuses the name ${JSON.stringify(name)}`, () => {
      const { service, load } = openToolHarness();
      const error = thrownBy(() => service.tool(load('party'), recordingTool([], { name })));
      expect(error.code).to.equal('CINNABAR_NAME_INVALID');
    });
  }

  it('refuses an input whose values are not plain JSON, which could not be shown, hashed and stored', () => {
    const { service, load } = openToolHarness();
    const input = z.object({ when: z.string().transform((text) => new Date(text)) });
    const error = thrownBy(() => service.tool(load('party'), recordingTool([], { input })));
    expect(error.code).to.equal('CINNABAR_PLUGIN_INVALID');
    expect(error.message).to.contain('add_party_character');
  });

  it('refuses an input of which no JSON Schema can be made for a model', () => {
    const { service, load } = openToolHarness();
    const inputs = {
      'an id of two parts': z.object({ one: z.string().meta({ id: 'part' }), other: z.number().meta({ id: 'part' }) }),
      'a default that JSON does not have': z.object({ count: z.unknown().default(1n) }),
    };
    for (const [what, input] of Object.entries(inputs)) {
      const error = thrownBy(() => service.tool(load('party'), recordingTool([], { input })));
      expect(error.code, what).to.equal('CINNABAR_PLUGIN_INVALID');
    }
  });

  it('shows the schema that a tool has brought as it was then, and checks by the input', async () => {
    const { service, load } = openToolHarness();
    const inputSchema = {
      type: 'object',
      $defs: { name: { type: 'string' } },
      properties: { name: { $ref: '#/$defs/name' } },
    };
    const input = z.looseObject({}).refine(({ name }) => name !== 'nobody', 'must be somebody');
    service.tool(load('party'), recordingTool([], { input, inputSchema }));
    const shown = structuredClone(inputSchema);
    inputSchema.$defs.name.type = 'number';
    expect(service.list()[0]?.inputSchema).to.deep.equal(shown);
    const request = { name: 'add_party_character', actor: alice, origin: 'test' };
    const outcome = await service.invoke({ ...request, arguments: { name: 'nobody' } });
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_ARGUMENTS');
  });

  it('describes the input as JSON Schema 2020-12 in which a default is not required', () => {
    const { service, load } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    const [info] = service.list();
    expect(info?.inputSchema).to.deep.include({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['name'],
    });
    expect(info?.inputSchema.properties).to.deep.equal({
      name: { type: 'string' },
      role: { type: 'string', default: 'Solo' },
    });
  });
});
