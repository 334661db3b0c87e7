import type { AnyOperation } from '../operations/define.ts';
import type { Param } from '../operations/params.ts';
import { type Json, type NamedSchemas, pascalCase } from './schemas.ts';

/** Parameters of the path and the query: one that several operations take stands in the document once. */
export class SharedParameters {
  /** By the name of the component. */
  private readonly shared = new Map<string, { readonly name: string; readonly param: Param }>();

  constructor(operations: readonly AnyOperation[]) {
    const uses = operations.flatMap(({ params }) => Object.entries(params));
    for (const [name, param] of uses) {
      if (param.in === 'body') continue;
      const isShared = uses.filter(([other, used]) => other === name && used === param).length > 1;
      const component = componentName(name, param);
      const before = this.shared.get(component);
      if (!isShared || before?.param === param) continue;
      if (before !== undefined) throw new Error(`two shared parameters are named ${component}`);
      this.shared.set(component, { name, param });
    }
  }

  /** The parameters of an operation. */
  of({ params }: AnyOperation, schemas: NamedSchemas): readonly Json[] {
    return Object.entries(params)
      .filter(([, param]) => param.in !== 'body')
      .map(([name, param]) => {
        const component = componentName(name, param);
        return this.shared.get(component)?.param === param
          ? { $ref: `#/components/parameters/${component}` }
          : parameterObject(name, param, schemas);
      });
  }

  components(schemas: NamedSchemas): Json {
    return Object.fromEntries(
      [...this.shared].map(([component, { name, param }]) => [
        component,
        parameterObject(name, param, schemas),
      ]),
    );
  }
}

function componentName(name: string, { component }: Param): string {
  return component ?? pascalCase(name);
}

function parameterObject(name: string, param: Param, schemas: NamedSchemas): Json {
  return {
    name,
    in: param.in,
    required: param.required,
    description: param.description,
    schema: schemas.place(param.schema),
    ...(param.example === undefined ? {} : { example: param.example }),
  };
}
