"""The files of packaging/: members that their readers know, names that lead somewhere, and settings that the binaries have."""

import os
import pathlib
import re
import subprocess
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SCALE = PACKAGING / "scale"
BINARIES = pathlib.Path(os.environ["TRIPTYCH_OBJECT_BINARY"]).parent
SERVICES = {"object-put": 7802, "video-api": 7801, "tabs-api": 7803}
# What the libraries of object stores read, beside the services.
OF_OBJECT_STORES = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}


class Map:
    """The members of an object, and which of them must be there: those whose name ends in an underscore."""

    def __init__(self, **members):
        self.members = members

    def faults(self, value, place):
        if not isinstance(value, dict):
            return [f"{place} is no object"]
        known = {name.rstrip("_"): form for name, form in self.members.items()}
        found = [f"{place} has no {name.rstrip('_')}" for name in self.members if name.endswith("_") and name.rstrip("_") not in value]
        for name, member in value.items():
            found += faults(known[name], member, f"{place}.{name}") if name in known else [f"{place}.{name} is not known"]
        return found


class OneOf:
    """Some forms, of which a value has one."""

    def __init__(self, *forms):
        self.forms = forms

    def faults(self, value, place):
        each = [faults(form, value, place) for form in self.forms]
        return [] if [] in each else min(each, key=len)


class Named:
    """An object of any names with members of one form."""

    def __init__(self, form):
        self.form = form

    def faults(self, value, place):
        if not isinstance(value, dict):
            return [f"{place} is no object"]
        return [fault for name, member in value.items() for fault in faults(self.form, member, f"{place}.{name}")]


def faults(form, value, place):
    """What is wrong with a value: a form is a type, a set of values, a list of one form, or one of the classes above."""
    if isinstance(form, list):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [fault for at, member in enumerate(value) for fault in faults(form[0], member, f"{place}[{at}]")]
    if isinstance(form, set):
        return [] if value in form else [f"{place} is {value!r}"]
    if isinstance(form, type):
        return [] if type(value) is form else [f"{place} is {value!r}"]
    return form.faults(value, place)


# What stands in the files of the Compose specification, as far as ours has it. `_` ends the name of a member that must be there.
COMPOSE = Map(
    services_=Named(
        Map(
            image_=str,
            restart={"unless-stopped", "always", "no", "on-failure"},
            stop_grace_period=str,
            command=[str],
            environment=Named(str),
            volumes=[str],
            ports=[str],
            healthcheck=Map(test_=[str], interval=str, retries=int),
            depends_on=OneOf([str], Named(Map(condition_={"service_healthy", "service_started"}))),
        )
    ),
    volumes=Named({None}),
)

# What stands in the API of Kubernetes, as far as ours has it.
PROBE = Map(httpGet_=Map(path_=str, port_=str), periodSeconds=int)
OF_SECRET = Map(secretKeyRef_=Map(name_=str, key_=str))
OF_FIELD = Map(fieldRef_=Map(fieldPath_={"metadata.name"}))
POD = Map(
    metadata_=Map(labels_=Named(str)),
    spec_=Map(
        terminationGracePeriodSeconds=int,
        securityContext=Map(fsGroup=int),
        containers_=[
            Map(
                name_=str,
                image_=str,
                ports=[Map(name=str, containerPort_=int)],
                envFrom=[Map(secretRef_=Map(name_=str))],
                env=[OneOf(Map(name_=str, value_=str), Map(name_=str, valueFrom_=OneOf(OF_SECRET, OF_FIELD)))],
                volumeMounts=[Map(name_=str, mountPath_=str, readOnly=bool)],
                livenessProbe=PROBE,
                readinessProbe=PROBE,
                securityContext=Map(runAsNonRoot=bool, runAsUser=int, allowPrivilegeEscalation=bool, readOnlyRootFilesystem=bool),
            )
        ],
        volumes=[OneOf(Map(name_=str, secret_=Map(secretName_=str)), Map(name_=str, emptyDir_=Map()))],
    ),
)
METADATA = Map(name_=str)
SELECTOR = Map(matchLabels_=Named(str))
KUBERNETES = OneOf(
    Map(apiVersion_={"apps/v1"}, kind_={"Deployment"}, metadata_=METADATA, spec_=Map(replicas=int, selector_=SELECTOR, template_=POD)),
    Map(
        apiVersion_={"apps/v1"},
        kind_={"StatefulSet"},
        metadata_=METADATA,
        spec_=Map(replicas=int, serviceName_=str, podManagementPolicy={"Parallel", "OrderedReady"}, selector_=SELECTOR, template_=POD),
    ),
    Map(
        apiVersion_={"v1"},
        kind_={"Service"},
        metadata_=METADATA,
        spec_=Map(clusterIP={"None"}, selector_=Named(str), ports_=[Map(name=str, port_=int, targetPort=str)]),
    ),
)


def settings_of(service):
    """The environment variables that a binary reads."""
    told = subprocess.run([BINARIES / service, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\[env: ([A-Z_]+)", told))


def read(name):
    return [document for document in yaml.safe_load_all((SCALE / name).read_text(encoding="utf-8")) if document]


class Forms(unittest.TestCase):
    def test_a_form_tells_what_is_wrong(self):
        form = Map(a_=int, b=[OneOf(str, Map(c_={1}))])
        for value, wrong in (
            ({"a": 1, "b": ["x", {"c": 1}]}, []),
            ({"b": []}, ["v has no a"]),
            ({"a": "1"}, ["v.a is '1'"]),
            ({"a": True}, ["v.a is True"]),
            ({"a": 1, "d": 2}, ["v.d is not known"]),
            ({"a": 1, "b": [2]}, ["v.b[0] is 2"]),
            ({"a": 1, "b": "x"}, ["v.b is no list"]),
        ):
            self.assertEqual(faults(form, value, "v"), wrong)


class Compose(unittest.TestCase):
    def setUp(self):
        [text] = read("compose.yaml")
        # Anchors for others; the specification keeps names that begin so for whoever writes the file.
        self.file = {name: part for name, part in text.items() if not name.startswith("x-")}

    def test_the_file_has_members_that_are_known_and_names_that_are_there(self):
        self.assertEqual(faults(COMPOSE, self.file, "compose"), [])
        for name, service in self.file["services"].items():
            for other in service.get("depends_on", ()):
                self.assertIn(other, self.file["services"], name)
            for volume in service.get("volumes", ()):
                source = volume.split(":")[0]
                self.assertTrue(source.startswith("./") or source in self.file["volumes"], f"{name}: {volume}")

    def test_each_service_has_three_instances_whose_settings_the_binary_reads(self):
        for service in SERVICES:
            own = {name: part for name, part in self.file["services"].items() if part["image"] == f"{service}-scale"}
            self.assertEqual(set(own), {f"{service}-{number}" for number in (1, 2, 3)})
            self.assertTrue((PACKAGING / "container" / f"{service}.Containerfile").is_file())
            known = settings_of(service) | OF_OBJECT_STORES
            for name, part in own.items():
                self.assertLessEqual(set(part["environment"]), known, name)

    def test_the_proxy_leads_to_the_instances_and_publishes_what_it_listens_on(self):
        settings = (SCALE / "nginx.conf").read_text(encoding="utf-8")
        named = set(re.findall(r"^\s*server ([a-z0-9-]+):(\d+)", settings, re.M))
        self.assertEqual(named, {(f"{service}-{number}", str(port)) for service, port in SERVICES.items() for number in (1, 2, 3)})
        listens = set(re.findall(r"^\s*listen (\d+);", settings, re.M))
        published = {port.split(":")[1] for port in self.file["services"]["proxy"]["ports"]}
        self.assertEqual(listens, published)


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.objects = read("kubernetes.yaml")
        self.made = set(re.findall(r"create secret generic (\S+)", (SCALE / "kubernetes.yaml").read_text(encoding="utf-8")))

    def pods(self):
        for found in self.objects:
            if "template" in found["spec"]:
                yield found, found["spec"]["template"]

    def test_the_objects_have_members_that_are_known(self):
        for found in self.objects:
            self.assertEqual(faults(KUBERNETES, found, f"{found.get('kind')} {found['metadata']['name']}"), [])
        names = [(found["kind"], found["metadata"]["name"]) for found in self.objects]
        self.assertEqual(len(names), len(set(names)))

    def test_labels_ports_volumes_and_secrets_lead_somewhere(self):
        for found, pod in self.pods():
            name, labels, spec = found["metadata"]["name"], pod["metadata"]["labels"], pod["spec"]
            self.assertEqual(found["spec"]["selector"]["matchLabels"], labels, name)
            # Those who reach it, by the name that a set of pods with names is governed by.
            [service] = [other for other in self.objects if other["kind"] == "Service" and other["metadata"]["name"] == name]
            self.assertEqual(service["spec"]["selector"], labels, name)
            self.assertIn(found["spec"].get("serviceName", name), {service["metadata"]["name"]})
            [container] = spec["containers"]
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            self.assertEqual(ports, {"http": SERVICES[name]})
            used = [port["targetPort"] for port in service["spec"]["ports"]]
            used += [container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")]
            self.assertLessEqual(set(used), set(ports), name)
            self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, {volume["name"] for volume in spec["volumes"]}, name)
            secrets = {volume["secret"]["secretName"] for volume in spec["volumes"] if "secret" in volume}
            secrets |= {source["secretRef"]["name"] for source in container.get("envFrom", ())}
            refs = [entry.get("valueFrom", {}).get("secretKeyRef") for entry in container["env"]]
            secrets |= {ref["name"] for ref in refs if ref}
            self.assertLessEqual(secrets, self.made, name)

    def test_settings_are_those_that_the_binary_reads_and_name_what_stands_before_them(self):
        for found, pod in self.pods():
            service = found["metadata"]["name"]
            before = set()
            for entry in pod["spec"]["containers"][0]["env"]:
                self.assertLessEqual(set(re.findall(r"\$\((\w+)\)", entry.get("value", ""))), before, entry)
                before.add(entry["name"])
            self.assertLessEqual(before, settings_of(service) | {"POD_NAME"}, service)


if __name__ == "__main__":
    unittest.main()
