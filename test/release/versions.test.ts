import { expect } from 'chai';
import { nextVersionProblem, withHeading, withHost, withVersion } from './versions.js';

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- Dice.\n\n## 0.1.0 (2026-01-01)\n\n- All.\n';

describe('a release', () => {
  it('has a version that is newer, and changes', () => {
    const refused = ['', '0.2', 'v0.2.0', '0.1.0', '0.0.9', '0.1.0-beta.1'];
    for (const next of refused) expect(nextVersionProblem('0.1.0', next, CHANGELOG), next).to.be.a('string');
    for (const next of ['0.1.1', '0.2.0', '1.0.0', '0.2.0-beta.1'])
      expect(nextVersionProblem('0.1.0', next, CHANGELOG), next).to.equal(undefined);
    expect(nextVersionProblem('0.2.0-beta.1', '0.2.0', CHANGELOG)).to.equal(undefined);
    const released = withHeading(CHANGELOG, '0.1.1', new Date(0));
    expect(nextVersionProblem('0.1.1', '0.1.2', released)).to.match(/has changed/);
    expect(nextVersionProblem('0.1.0', '0.1.2', '# Changelog\n')).to.match(/no heading/);
  });

  it('moves the changes below its heading', () => {
    expect(withHeading(CHANGELOG, '0.2.0', new Date('2026-02-03'))).to.equal(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n- Dice.\n\n## 0.1.0 (2026-01-01)\n\n- All.\n',
    );
  });

  it('gives a package its version, and those of the project that it asks for', () => {
    const own = ['@cinnabar/core', '@cinnabar/sdk'];
    const text = JSON.stringify({
      name: '@cinnabar/core',
      version: '0.1.0',
      dependencies: { '@cinnabar/sdk': '0.1.0', zod: '^4.0.0' },
      peerDependencies: { '@cinnabar/sdk': '^0.1.0' },
    });
    expect(JSON.parse(withVersion(text, own, { current: '0.1.0', next: '0.2.0' }))).to.deep.equal({
      name: '@cinnabar/core',
      version: '0.2.0',
      dependencies: { '@cinnabar/sdk': '0.2.0', zod: '^4.0.0' },
      peerDependencies: { '@cinnabar/sdk': '^0.2.0' },
    });
    const example = withVersion('{"name":"@cinnabar/example-dice","version":"1.0.0"}', own, {
      current: '0.1.0',
      next: '0.2.0',
    });
    expect(JSON.parse(example).version).to.equal('1.0.0');
    expect(withHost("{ id: 'dice', host: '^0.1.0' }", { current: '0.1.0', next: '0.2.0' })).to.include(
      "host: '^0.2.0'",
    );
  });
});
