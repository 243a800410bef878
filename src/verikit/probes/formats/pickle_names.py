"""What pickles may name: full dotted names, exactly; nothing is allowed by its module or its beginning.

`harmless`: rebuilds tensors, arrays and plain containers from the bytes at hand.  `harmful`: runs code, opens files or
sockets, or reaches what does.  Any other name is for whoever asks to allow.
Source: torch/_weights_only_unpickler.py; the deny-lists of picklescan and modelscan.
"""

TORCH_STORAGES = """
Double Float Half BFloat16 Long Int Short Char Byte Bool
ComplexDouble ComplexFloat QInt8 QUInt8 QInt32 QUInt4x2 QUInt2x4
"""

TORCH = """
_utils._rebuild_tensor _utils._rebuild_tensor_v2 _utils._rebuild_tensor_v3 _utils._rebuild_parameter
_utils._rebuild_parameter_with_state _utils._rebuild_qtensor _utils._rebuild_sparse_tensor
_utils._rebuild_sparse_csr_tensor _utils._rebuild_nested_tensor _utils._rebuild_meta_tensor_no_storage
_utils._rebuild_device_tensor_from_numpy _utils._rebuild_device_tensor_from_cpu_tensor _utils._rebuild_wrapper_subclass
_tensor._rebuild_from_type_v2 _tensor._rebuild_from_type Tensor nn.parameter.Parameter nn.parameter.Buffer
nn.parameter.UninitializedParameter Size device Generator storage.UntypedStorage storage.TypedStorage
storage._LegacyStorage serialization._get_layout strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc
per_tensor_affine per_tensor_symmetric per_channel_affine per_channel_symmetric per_channel_affine_float_qparams
contiguous_format preserve_format channels_last channels_last_3d memory_format layout dtype
float64 float32 float16 bfloat16 double float half float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz
float8_e8m0fnu float4_e2m1fn_x2 int64 int32 int16 int8 long int short uint64 uint32 uint16 uint8 bool complex32
complex64 complex128 cfloat cdouble qint8 quint8 qint32 quint4x2 quint2x4 bits8 bits16 bits1x8 bits2x4 bits4x2
int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7
jit._pickle.build_intlist jit._pickle.build_doublelist jit._pickle.build_boollist jit._pickle.build_tensorlist
jit._pickle.restore_type_tag
distributed.checkpoint.metadata.Metadata distributed.checkpoint.metadata.TensorStorageMetadata
distributed.checkpoint.metadata.BytesStorageMetadata distributed.checkpoint.metadata.ChunkStorageMetadata
distributed.checkpoint.metadata.TensorProperties distributed.checkpoint.metadata.MetadataIndex
distributed.checkpoint.metadata._MEM_FORMAT_ENCODING distributed.checkpoint.metadata.StorageMeta
distributed.checkpoint.filesystem._StorageInfo distributed.checkpoint.filesystem._StoragePrefix
distributed._shard.sharded_tensor.metadata.TensorProperties distributed._shard.sharded_tensor.metadata.MEM_FORMAT_ENCODING
distributed.tensor.DTensor distributed.tensor._api.DTensor distributed._tensor.api.DTensor
distributed.tensor._dtensor_spec.DTensorSpec distributed._tensor._dtensor_spec.DTensorSpec
distributed.tensor._dtensor_spec.TensorMeta distributed._tensor._dtensor_spec.TensorMeta
distributed.device_mesh.DeviceMesh distributed._mesh_layout._MeshLayout
distributed.tensor.placement_types.Shard distributed.tensor.placement_types.Replicate
distributed.tensor.placement_types.Partial distributed._tensor.placement_types.Shard
distributed._tensor.placement_types.Replicate distributed._tensor.placement_types._Partial
distributed._mesh_layout._FlatLayout distributed.tensor._dtensor_spec.ShardOrderEntry
_dynamo.decorators._DimRange torch_version.TorchVersion nn.modules.module._IncompatibleKeys
"""

NUMPY = """
ndarray dtype core.multiarray._reconstruct core.multiarray.scalar core.numeric._frombuffer
_core.multiarray._reconstruct _core.multiarray.scalar _core.numeric._frombuffer
bool_ bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 str_ bytes_ object_
dtypes.Float64DType dtypes.Float32DType dtypes.Float16DType dtypes.Int64DType dtypes.Int32DType dtypes.Int16DType
dtypes.Int8DType dtypes.UInt64DType dtypes.UInt32DType dtypes.UInt16DType dtypes.UInt8DType dtypes.BoolDType
dtypes.StrDType dtypes.BytesDType dtypes.ObjectDType dtypes.LongDType dtypes.ULongDType
dtypes.LongLongDType dtypes.ULongLongDType dtypes.Complex64DType dtypes.Complex128DType
random._pickle.__randomstate_ctor random._pickle.__generator_ctor random._pickle.__bit_generator_ctor
random._mt19937.MT19937 random._pcg64.PCG64 random.bit_generator.SeedSequence
random.bit_generator.__pyx_unpickle_SeedSequence ma.MaskedArray ma.core.MaskedArray ma.core._mareconstruct
"""

PLAIN = """
collections.OrderedDict collections.defaultdict collections.Counter collections.deque
builtins.set builtins.frozenset builtins.bytearray builtins.bytes builtins.complex builtins.dict builtins.list
builtins.tuple builtins.int builtins.float builtins.bool builtins.str builtins.slice builtins.range builtins.object
builtins.NoneType builtins.Ellipsis copyreg._reconstructor copyreg.__newobj__ _codecs.encode argparse.Namespace
types.SimpleNamespace
datetime.datetime datetime.date datetime.time datetime.timedelta datetime.timezone decimal.Decimal fractions.Fraction
uuid.UUID uuid.SafeUUID pathlib.Path pathlib.PosixPath pathlib.PurePosixPath pathlib.PurePath pathlib.WindowsPath
pathlib.PureWindowsPath pathlib._local.PosixPath pathlib._local.PurePosixPath random.Random enum.Enum
ml_dtypes.bfloat16 ml_dtypes.float8_e4m3fn ml_dtypes.float8_e5m2
"""

# Arguments, enumerations and small values of the common trainers: built from the bytes at hand, nothing beyond is called.
# DeepSpeed and Megatron register theirs as safe for torch themselves.
TRAINERS = """
transformers.training_args.TrainingArguments transformers.training_args_seq2seq.Seq2SeqTrainingArguments
transformers.training_args.OptimizerNames transformers.training_args.ParallelMode transformers.debug_utils.DebugOption
transformers.trainer_utils.IntervalStrategy transformers.trainer_utils.SaveStrategy transformers.trainer_utils.HubStrategy
transformers.trainer_utils.EvaluationStrategy transformers.trainer_utils.SchedulerType
transformers.trainer_utils.FSDPOption transformers.trainer_pt_utils.AcceleratorConfig accelerate.state.PartialState
accelerate.utils.dataclasses.DistributedType lightning_fabric.utilities.data.AttributeDict
lightning.fabric.utilities.data.AttributeDict pytorch_lightning.utilities.parsing.AttributeDict
deepspeed.runtime.fp16.loss_scaler.LossScaler deepspeed.runtime.fp16.loss_scaler.DynamicLossScaler
deepspeed.runtime.zero.config.ZeroStageEnum deepspeed.utils.tensor_fragment.fragment_address
megatron.core.enums.ModelType megatron.core.transformer.enums.AttnBackend megatron.core.rerun_state_machine.RerunMode
megatron.core.rerun_state_machine.RerunState megatron.core.rerun_state_machine.RerunDiagnostic
"""

# Modules nothing of which belongs into a checkpoint: each name in them, and beneath them, is harmful. Those of Python 3.11,
# torch 2.13 and numpy 2.4 were searched for functions that give their arguments to exec, import, open and the like.
HARMFUL_MODULES = """
os posix nt subprocess sys socket shutil pty commands runpy code codeop imp importlib pkgutil ctypes _ctypes cffi marshal
pickle _pickle cPickle dill cloudpickle joblib shelve multiprocessing _posixsubprocess asyncio threading _thread signal
builtins.eval builtins.exec builtins.compile builtins.open builtins.__import__ builtins.getattr builtins.setattr
builtins.delattr builtins.globals builtins.locals builtins.vars builtins.breakpoint builtins.input builtins.apply
builtins.execfile builtins.file builtins.map builtins.filter builtins.reduce builtins.memoryview builtins.type
builtins.super builtins.dir builtins.help builtins.exit builtins.quit builtins.print
operator _operator functools.reduce itertools.starmap
pip setuptools distutils ensurepip venv webbrowser antigravity http urllib ftplib smtplib telnetlib poplib imaplib xmlrpc
requests httplib httpx aiohttp ssl tempfile glob fileinput linecache io _io zipimport zipfile tarfile
pdb bdb trace tracemalloc timeit profile cProfile pstats doctest unittest pydoc pydoc_data idlelib lib2to3 inspect
types.FunctionType types.CodeType types.MethodType types.LambdaType types.ModuleType logging.config gc ast dis
codecs.open codecs.decode codecs.lookup codecs.register atexit sched platform getpass readline rlcompleter cmd
bs4 sqlite3 dbm numpy.testing numpy.load numpy.loads numpy.f2py numpy.distutils numpy.ctypeslib
numpy.save numpy.fromfile numpy.loadtxt numpy.genfromtxt numpy.memmap numpy.lib.npyio numpy.lib.utils numpy.lib.format
torch.load torch.save torch.serialization torch.jit.load torch.hub torch.package torch._inductor torch._dynamo
torch.utils torch.fx torch.classes torch.ops torch.storage._load_from_bytes torch.distributed.rpc torch.multiprocessing
torch.testing torch.cuda.memory torch.onnx torch._C transformers.dynamic_module_utils jax.experimental pandas.eval
pandas.read_pickle pandas.io.pickle cloudpickle.cloudpickle nose uuid._get_command_stdout uuid._popen aifc pipes
copyreg.add_extension copyreg.pickle copyreg._extension_registry copyreg.__reduce_ex__ weakref ptyprocess pexpect paramiko
fabric psutil site sysconfig cgi crypt resource mmap select socketserver wsgiref turtle turtledemo tkinter
concurrent test.support _pyio _pyrepl _bootsubprocess _osx_support _aix_support annotationlib gzip bz2 lzma wave sunau imghdr
sndhdr zipapp filecmp uu netrc py_compile compileall mailbox mailcap mimetypes nntplib smtpd asyncore asynchat
dataclasses._create_fn dataclasses._FuncBuilder typing.get_type_hints typing._eval_type logging.FileHandler
logging.handlers logging.basicConfig xml.sax xml.dom.pulldom xml.dom.expatbuilder xml.etree.ElementInclude
xml.etree.ElementTree.parse xml.etree.ElementTree.iterparse
numpy.lib._npyio_impl numpy.lib._format_impl numpy.lib._utils_impl
numpy._core.records.fromfile numpy.core.records.fromfile numpy.rec.fromfile numpy.ma.mrecords.openfile
numpy._core._methods._dump numpy._core.function_base.add_newdoc
numpy.savetxt numpy.savez numpy.savez_compressed numpy.fromregex numpy.ndarray.tofile numpy.ndarray.dump numpy.DataSource
numpy.core.multiarray.fromfile numpy._core.multiarray.fromfile numpy.core.numeric.fromfile numpy._core.numeric.fromfile
pandas.io pandas.to_pickle pandas.read_csv pandas.read_table pandas.read_fwf pandas.read_json pandas.read_html pandas.read_xml
pandas.read_excel pandas.read_hdf pandas.read_parquet pandas.read_feather pandas.read_orc pandas.read_sas pandas.read_spss
pandas.read_stata pandas.read_sql pandas.read_sql_query pandas.read_sql_table pandas.ExcelFile pandas.ExcelWriter
pandas.HDFStore scipy.io scipy.sparse.save_npz scipy.sparse.load_npz h5py.File zarr.open zarr.save zarr.load
safetensors.torch.save_file safetensors.numpy.save_file safetensors.torch.save_model safetensors.safe_open
torch.from_file torchvision.io torchvision.utils.save_image torchaudio.save PIL.Image.open cv2.imwrite cv2.imread imageio
matplotlib.pyplot.savefig
torch.jit.unsupported_tensor_ops torch.jit.annotations torch.jit._serialization torch.compile torch.profiler torch.export.load
torch.export.pt2_archive torch.distributed.elastic torch.distributed.run torch.distributed.launch
torch.distributed.flight_recorder torch.distributed.checkpoint.format_utils
torch.distributed.checkpoint._consolidate_hf_safetensors torch.distributed.optim.zero_redundancy_optimizer._broadcast_object
torch.nn.attention._fa3 torch.nn.attention._fa4 torch.nn.utils._deprecation_utils torch._functorch torch._strobelight
torch._logging torch._library torch._vendor torch._utils_internal torch.cuda.gds torch.cuda.tunable torch.cuda._memory_viz
torch.cuda._annotate_cuda_graph_trace torch.xpu.memory torch.backends.xeon
"""


def _names():
    names = {"torch." + name for name in TORCH.split()}
    for kind in TORCH_STORAGES.split():
        for module in ("torch.", "torch.cuda.", "torch.storage.", "torch.sparse.", "torch.cuda.sparse."):
            names.update((module + kind + "Storage", module + kind + "Tensor"))
    names |= {"numpy." + name for name in NUMPY.split()}
    return frozenset(names) | frozenset(PLAIN.split()) | frozenset(TRAINERS.split())


# Pickled by their fields, so nothing honest calls them; a call would open files, set the environment or seek other hosts.
UNCALLED = frozenset(
    """
transformers.training_args.TrainingArguments transformers.training_args_seq2seq.Seq2SeqTrainingArguments
accelerate.state.PartialState torch.distributed.device_mesh.DeviceMesh
""".split()
)

# Classes of arrays that are named for numpy to make one of; a call would open a file, and might write it anew.
NAMED = frozenset(("numpy.memmap", "numpy.core.memmap.memmap", "numpy._core.memmap.memmap"))

# Enumerations among the names above. Python 3.11.0 to 3.11.3 (Debian 12 has 3.11.2) pickle a member as getattr(class, "NAME").
ENUMERATIONS = frozenset(
    """
torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING torch.distributed._shard.sharded_tensor.metadata.MEM_FORMAT_ENCODING
transformers.training_args.OptimizerNames transformers.training_args.ParallelMode transformers.debug_utils.DebugOption
transformers.trainer_utils.IntervalStrategy transformers.trainer_utils.SaveStrategy transformers.trainer_utils.HubStrategy
transformers.trainer_utils.EvaluationStrategy transformers.trainer_utils.SchedulerType transformers.trainer_utils.FSDPOption
accelerate.utils.dataclasses.DistributedType deepspeed.runtime.zero.config.ZeroStageEnum megatron.core.enums.ModelType
megatron.core.transformer.enums.AttnBackend megatron.core.rerun_state_machine.RerunMode
megatron.core.rerun_state_machine.RerunState megatron.core.rerun_state_machine.RerunDiagnostic uuid.SafeUUID
""".split()
)

# What joblib puts in the place of an array, whose bytes then stand between two opcodes.
WRAPPERS = frozenset(("joblib.numpy_pickle.NumpyArrayWrapper",))

HARMLESS = _names()
HARMFUL = frozenset(HARMFUL_MODULES.split())


def may_hold_members(name):
    """Whether a class may be asked for a member by name: a known enumeration, or a class that somebody must allow anyway."""
    return name in ENUMERATIONS or kind(name, "called") == "other"


def kind(name, use="named"):
    """`harmless`, `harmful` or `other`, for a name that is used so: a word of `pickle_walk.USES`."""
    if name in UNCALLED and use == "called":
        return "other"
    if name in NAMED:
        return "harmless" if use == "named" else "harmful"
    if name in HARMLESS or name.startswith(
        "__torch__."
    ):  # TorchScript's own classes: code of the archive, never Python's
        return "harmless"
    if name in WRAPPERS or name.startswith("torch._C._nn."):  # functions over tensors: gelu and the like
        return "other"
    parts = name.split(".")
    if any(".".join(parts[:end]) in HARMFUL for end in range(1, len(parts) + 1)):
        return "harmful"
    return "other"
